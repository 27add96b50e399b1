/** Page of nodes that share the database: whether each node is running, and which policy it uses. */
import { CircleCheck, Hourglass, LogOut, Trash2, TriangleAlert, Unplug } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { IconButton } from '../../ui/controls/button.tsx';
import { DataTable } from '../../ui/display/data-table.tsx';
import { Disclosure } from '../../ui/display/disclosure.tsx';
import { Card, Page } from '../../ui/display/page.tsx';
import { Answered, Callout } from '../../ui/display/states.tsx';
import { Badge, Moment } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { answeredAtMs, notesOf, stateOf, statusOfAll, uptimeSecsOf } from './nodes-status.ts';
import type { ClusterNode, NodeState } from './nodes-status.ts';
import styles from './nodes-page.module.css';

/** Interval of requests; nodes send a heartbeat every two seconds. */
const STATES_MS = 4_000;
const LOOKS = {
  good: { tone: 'good', icon: CircleCheck },
  starting: { tone: 'plain', icon: Hourglass },
  draining: { tone: 'plain', icon: LogOut },
  behind: { tone: 'warning', icon: TriangleAlert },
  late: { tone: 'warning', icon: Unplug },
  away: { tone: 'fault', icon: Unplug },
} as const;
const TONES = {
  alone: 'good',
  agree: 'good',
  mixed: 'info',
  behind: 'warning',
  late: 'warning',
  away: 'fault',
} as const;

export default function NodesPage(): ReactNode {
  const { say } = useText();
  const answer = useAsk('GET /nodes', {}, { everyMs: STATES_MS });
  const [forgotten, setForgotten] = useState<string | null>(null);
  const removal = useChange('DELETE /nodes/{node}', {
    done: 'nodes.forgotten',
    onDone: () => setForgotten(null),
  });
  return (
    <Page title={say('page.nodes')} lead={say('nodes.lead')}>
      <Answered of={answer} lines={6}>
        {(nodes) => (
          <>
            <NodesSummary nodes={nodes} />
            <Card>
              <NodeTable nodes={nodes} onForget={setForgotten} />
            </Card>
            {forgotten !== null && (
              <Confirm
                title={say('action.removeOf', { name: forgotten })}
                action={say('nodes.forget.action')}
                isPending={removal.isPending}
                onConfirm={() => void removal.run({ params: { node: forgotten } })}
                onClose={() => setForgotten(null)}
              >
                <p>{say('nodes.forget.text')}</p>
              </Confirm>
            )}
          </>
        )}
      </Answered>
      <Disclosure title={say('nodes.more')}>
        <p className={styles['more']}>{say('nodes.more.text')}</p>
      </Disclosure>
    </Page>
  );
}

function NodesSummary({ nodes }: { readonly nodes: readonly ClusterNode[] }): ReactNode {
  const { say, format } = useText();
  const { kind, names } = statusOfAll(nodes);
  const filling = { count: names.length, total: nodes.length, names: format.list(names) };
  return <Callout tone={TONES[kind]}>{say(`nodes.${kind}`, filling)}</Callout>;
}

interface NodeTableProps {
  readonly nodes: readonly ClusterNode[];
  readonly onForget: (node: string) => void;
}

function NodeTable({ nodes, onForget }: NodeTableProps): ReactNode {
  const { say, format } = useText();
  const health = useAsk('GET /health', {});
  const nowMs = answeredAtMs(nodes);
  return (
    <DataTable
      label={say('page.nodes')}
      rows={nodes}
      keyOf={({ node }) => node}
      columns={[
        {
          id: 'node',
          title: say('nodes.node'),
          isName: true,
          cell: (node) => (
            <NodeName
              node={node}
              state={stateOf(node)}
              isHere={nodes.length > 1 && node.node === health.data?.node}
            />
          ),
        },
        { id: 'policy', title: say('nodes.revision'), cell: (node) => <Revision node={node} /> },
        {
          id: 'rate',
          title: say('nodes.rate'),
          isNumber: true,
          cell: (node) => (node.qps === null || stateOf(node) === 'away' ? '–' : format.count(node.qps)),
        },
        {
          id: 'uptime',
          title: say('nodes.uptime'),
          cell: (node) => {
            const secs = uptimeSecsOf(node, nowMs);
            return secs === null ? '–' : format.span(secs);
          },
        },
        { id: 'seen', title: say('nodes.seen'), cell: ({ last_seen: at }) => <Moment at={at} /> },
        { id: 'version', title: say('nodes.version'), cell: ({ version }) => <bdi>{version ?? '–'}</bdi> },
        {
          id: 'actions',
          title: say('nodes.forget.action'),
          isActions: true,
          cell: (node) =>
            stateOf(node) === 'away' && (
              <ForAdmins>
                <IconButton
                  icon={Trash2}
                  label={say('action.removeOf', { name: node.node })}
                  onPress={() => onForget(node.node)}
                />
              </ForAdmins>
            ),
        },
      ]}
    />
  );
}

interface NodeNameProps {
  readonly node: ClusterNode;
  readonly state: NodeState;
  /** Whether this node serves the page and the cluster has other nodes. */
  readonly isHere: boolean;
}

function NodeName({ node: row, state, isHere }: NodeNameProps): ReactNode {
  const { node, address } = row;
  const { say } = useText();
  return (
    <span className={styles['node']}>
      <bdi>{node}</bdi>
      {address !== null && <bdi className={styles['quiet']}>{address}</bdi>}
      <span className={styles['badges']}>
        <Badge tone={LOOKS[state].tone} icon={LOOKS[state].icon}>
          {say(`nodes.state.${state}`)}
        </Badge>
        {isHere && <Badge tone="plain">{say('nodes.here')}</Badge>}
      </span>
      <Notes node={row} />
    </span>
  );
}

function Notes({ node }: { readonly node: ClusterNode }): ReactNode {
  const { say, format } = useText();
  const { rowsLost, rowsMissing, isMissingMinimum, clockSecs, drift } = notesOf(node);
  const notes = [
    rowsLost > 0 && say('nodes.note.lost', { count: rowsLost }),
    isMissingMinimum
      ? say('nodes.note.missingMinimum', { count: rowsMissing })
      : rowsMissing > 0 && say('nodes.note.missing', { count: rowsMissing }),
    clockSecs !== 0 && say('nodes.note.clock', { span: format.span(Math.abs(clockSecs)) }),
    drift.length > 0 && say('nodes.note.drift', { names: format.list(drift) }),
  ].filter((note) => note !== false);
  return notes.map((note) => (
    <span key={note} className={styles['quiet']}>
      {note}
    </span>
  ));
}

function Revision({ node }: { readonly node: ClusterNode }): ReactNode {
  const { say, format } = useText();
  const { policy_revision: revision, lag_ms: lag } = node;
  if (revision === null) return say('nodes.revision.unknown');
  if (lag === null || lag === 0)
    return <span className={styles['revision']}>{say('nodes.revision.value', { revision })}</span>;
  return say('nodes.revision.lag', { revision, span: format.span(Math.ceil(lag / 1_000)) });
}
