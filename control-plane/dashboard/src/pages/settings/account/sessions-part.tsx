/** Active sessions with their users and addresses; each can be revoked. */
import { LogOut } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import { useAsk } from '../../../api/use-ask.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { DataTable } from '../../../ui/display/data-table.tsx';
import { Disclosure } from '../../../ui/display/disclosure.tsx';
import { Card } from '../../../ui/display/page.tsx';
import { Answered } from '../../../ui/display/states.tsx';
import { Badge, Moment } from '../../../ui/display/values.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import styles from './account.module.css';
import { browserNameOf } from './browser-name.ts';

type Session = AnswerOf<'GET /auth/sessions'>[number];

export default function SessionsPart(): ReactNode {
  const { say, format } = useText();
  const sessions = useAsk('GET /auth/sessions', {});
  const [ending, setEnding] = useState<Session | null>(null);
  const end = useChange('DELETE /auth/sessions/{id}', {
    done: 'settings.session.ended',
    onDone: () => setEnding(null),
  });
  return (
    <Card title={say('settings.part.sessions')}>
      <Answered of={sessions}>
        {(rows) => (
          <DataTable
            label={say('settings.part.sessions')}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                id: 'who',
                title: say('field.who'),
                isName: true,
                cell: ({ username, ip_address: address, current }) => (
                  <>
                    <bdi>{`${username} · ${address}`}</bdi>{' '}
                    {current && <Badge tone="good">{say('settings.session.this')}</Badge>}
                  </>
                ),
              },
              {
                id: 'browser',
                title: say('settings.session.browser'),
                isPlain: true,
                cell: ({ user_agent: agent }) => <BrowserCell agent={agent} />,
              },
              {
                id: 'seen',
                title: say('field.lastSeen'),
                cell: ({ last_seen: at }) => <Moment at={at} />,
              },
              {
                id: 'until',
                title: say('settings.session.until'),
                cell: ({ expires_at: at }) => format.moment(at),
              },
              {
                id: 'actions',
                title: say('settings.session.end'),
                isActions: true,
                cell: (session) =>
                  session.current ? null : (
                    <Button icon={LogOut} onPress={() => setEnding(session)}>
                      {say('settings.session.end')}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Answered>
      {ending !== null && (
        <Confirm
          title={say('settings.session.end.title')}
          action={say('settings.session.end')}
          isPending={end.isPending}
          onConfirm={() => void end.run({ params: { id: ending.id } })}
          onClose={() => setEnding(null)}
        >
          <p>{say('settings.session.end.text', { username: ending.username, address: ending.ip_address })}</p>
        </Confirm>
      )}
    </Card>
  );
}

/** Short name of the browser, which expands to the full user agent. */
function BrowserCell({ agent }: { readonly agent: string | null }): ReactNode {
  const { say } = useText();
  if (agent === null) return say('settings.session.unknown');
  const { browser, system } = browserNameOf(agent);
  const known = [browser, system].filter((name) => name !== null);
  if (known.length === 0) return <bdi>{agent}</bdi>;
  const title =
    browser !== null && system !== null ? say('settings.session.on', { browser, system }) : known.join();
  return (
    <Disclosure title={title}>
      <bdi className={styles['agent']}>{agent}</bdi>
    </Disclosure>
  );
}
