/**
 * Temporary rules of a client or group: one click creates a rule, and it ends when it expires or when a user ends it
 * here.
 */
import { CirclePlay, CircleSlash } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { ForAdmins, useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Bar } from '../display/page.tsx';
import { Answered } from '../display/states.tsx';
import { Badge } from '../display/values.tsx';
import { GrantedName } from './granted-name.tsx';
import styles from './timed-permissions.module.css';

/** The client or group that the rules apply to. */
export type Holder = { readonly client_id: number } | { readonly group_id: number };

const REFRESH_MS = 30_000;
const BLOCK_SECS = 3_600;
const ALLOW_SECS = 1_800;

type Grant = AnswerOf<'GET /grants'>[number];

interface TimedPermissionsProps {
  readonly of: Holder;
  /** More buttons for administrators. */
  readonly children?: ReactNode;
}

/** Active temporary rules, and buttons that create new rules. */
export function TimedPermissions({ of: holder, children }: TimedPermissionsProps): ReactNode {
  const { say, format } = useText();
  const grants = useAsk('GET /grants', {}, { everyMs: REFRESH_MS });
  const block = useChange('POST /grants', { done: 'timed.blocked' });
  const allow = useChange('POST /grants', { done: 'timed.allowed' });
  const end = useChange('DELETE /grants/{id}', { done: 'grants.ended' });
  const { isAdmin } = useMe();
  return (
    <div className="rows-3">
      <ForAdmins>
        <Bar>
          <Button
            icon={CircleSlash}
            isPending={block.isPending}
            onPress={() => void block.run({ body: { ...holder, action: 'block', secs: BLOCK_SECS } })}
          >
            {say('timed.block', { span: format.span(BLOCK_SECS) })}
          </Button>
          <Button
            icon={CirclePlay}
            isPending={allow.isPending}
            onPress={() => void allow.run({ body: { ...holder, action: 'allow', secs: ALLOW_SECS } })}
          >
            {say('timed.allow', { span: format.span(ALLOW_SECS) })}
          </Button>
          {children}
        </Bar>
      </ForAdmins>
      <Answered of={grants} lines={1}>
        {(all) => {
          const own = all.filter((grant) => isOf(grant, holder));
          if (own.length === 0) return <p className={styles['none']}>{say('timed.none')}</p>;
          return (
            <ul className="rows-2">
              {own.map((grant) => (
                <li key={grant.id} className={styles['row']}>
                  <Badge tone={grant.action === 'allow' ? 'allowed' : 'blocked'}>
                    {say(grant.action === 'allow' ? 'groups.rules.isAllowed' : 'groups.rules.isBlocked')}
                  </Badge>
                  <span className={styles['what']}>
                    <GrantedName grant={grant} />
                    {grant.until === null || grant.secs_left === null ? (
                      <span className={styles['until']}>{say('grants.noEnd')}</span>
                    ) : (
                      <time dateTime={grant.until} className={styles['until']}>
                        {say('schedules.now.until', {
                          moment: (grant.secs_left < 86_400 ? format.time : format.moment)(grant.until),
                          left: format.ago(grant.until),
                        })}
                      </time>
                    )}
                  </span>
                  {isAdmin && (
                    <Button kind="quiet" onPress={() => void end.run({ params: { id: grant.id } })}>
                      {say('grants.end')}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </div>
  );
}

function isOf(grant: Grant, holder: Holder): boolean {
  return 'client_id' in holder ? grant.client_id === holder.client_id : grant.group_id === holder.group_id;
}
