/** Card of an upstream pool or forward zone, with the state of each server. */
import { CircleAlert, CircleCheck, CircleHelp, Pencil } from 'lucide-react';
import type { ReactNode } from 'react';
import { messageText } from '../../api/faults/message-text.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import { Card } from '../../ui/display/page.tsx';
import { Badge } from '../../ui/display/values.tsx';
import type { PoolState, ServerState } from './pools.ts';
import styles from './resolving-page.module.css';
import type { MessageKey } from '../../i18n/language.ts';
import { keyOfCode } from '../../i18n/say.ts';

const STATES = {
  Healthy: { tone: 'good', icon: CircleCheck, text: 'resolving.state.healthy' },
  Unhealthy: { tone: 'fault', icon: CircleAlert, text: 'resolving.state.unhealthy' },
  Unknown: { tone: 'plain', icon: CircleHelp, text: 'resolving.state.unknown' },
} as const;

interface PoolCardProps {
  readonly pool: PoolState;
  /** Opens the editor; null if the servers cannot be edited here. */
  readonly onEdit: (() => void) | null;
}

export function PoolCard({ pool, onEdit }: PoolCardProps): ReactNode {
  const { say, format } = useText();
  const { kind, name, strategy, servers } = pool;
  const title = say(kind === 'pool' ? 'resolving.pool' : 'resolving.zone', { name });
  return (
    <Card
      title={title}
      actions={
        onEdit !== null && (
          <ForAdmins>
            <Button icon={Pencil} onPress={onEdit}>
              {say('action.edit')}
            </Button>
          </ForAdmins>
        )
      }
    >
      <p className={styles['strategy']}>{say(`resolving.strategy.${strategy}.help`)}</p>
      <DataTable
        label={title}
        rows={servers}
        keyOf={({ address }) => address}
        columns={[
          {
            id: 'server',
            title: say('resolving.server'),
            isName: true,
            cell: (server) => <ServerName server={server} />,
          },
          {
            id: 'state',
            title: say('field.state'),
            cell: ({ status }) => {
              const { tone, icon, text } = STATES[status];
              return (
                <Badge tone={tone} icon={icon}>
                  {say(text)}
                </Badge>
              );
            },
          },
          {
            id: 'latency',
            title: say('resolving.latency'),
            isNumber: true,
            cell: ({ latency_ms: latency }) =>
              latency === null
                ? say('resolving.latency.none')
                : say('resolving.latency.value', {
                    p50: format.duration(latency.p50 * 1_000),
                    p95: format.duration(latency.p95 * 1_000),
                  }),
          },
          {
            id: 'queries',
            title: say('field.queries'),
            isNumber: true,
            cell: ({ queries }) => format.count(queries),
          },
          {
            id: 'failures',
            title: say('resolving.failures'),
            isNumber: true,
            cell: ({ failures, queries }) =>
              failures === 0 || queries === 0
                ? format.count(failures)
                : `${format.count(failures)} (${format.percent((failures / queries) * 100)})`,
          },
        ]}
      />
    </Card>
  );
}

function ServerName({ server }: { readonly server: ServerState }): ReactNode {
  const { say } = useText();
  const { address, resolved, supports, consecutive_failures: failing, last_error: error } = server;
  const { removes_signatures: removesSignatures } = server;
  const others = resolved.filter((ip) => !address.includes(ip));
  const { answers_per_connection: answers } = supports;
  const known = supportTexts(supports).map((text) => say(text));
  if (answers !== null) known.push(say('resolving.support.answers', { count: answers }));
  return (
    <span className={styles['server']}>
      <bdi>{address}</bdi>
      {others.length > 0 && <bdi className={styles['detail']}>{others.join(', ')}</bdi>}
      {known.length > 0 && <span className={styles['detail']}>{known.join(' · ')}</span>}
      {failing > 0 && (
        <span className={styles['fault']}>
          {say('resolving.failing', { count: failing })} <bdi>{error !== null && messageText(error)}</bdi>
        </span>
      )}
      {removesSignatures && <span className={styles['fault']}>{say('resolving.unsigned')}</span>}
    </span>
  );
}

type Supports = ServerState['supports'];

/** Texts about the features of a server, in order; usual findings have no text. */
function supportTexts(supports: Supports): MessageKey[] {
  return (['edns', 'case', 'cookies', 'tcp'] as const)
    .map((feature) => keyOfCode('resolving.support', `${feature}.${supports[feature]}`))
    .filter((text) => text !== null);
}
