/** Test results of servers before they are saved: which servers answer, how fast, and whether they support DNSSEC. */
import { CircleAlert, CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { messageText } from '../../api/faults/message-text.ts';
import { problemText } from '../../api/problem-text.ts';
import type { Question } from '../../api/use-question.ts';
import { useText } from '../../i18n/text.ts';
import { DataTable } from '../../ui/display/data-table.tsx';
import { Callout } from '../../ui/display/states.tsx';
import { Badge } from '../../ui/display/values.tsx';
import styles from './resolving-page.module.css';

type Result = AnswerOf<'POST /upstreams/test'>[number];

export function ServerTest({ of }: { readonly of: Question<'POST /upstreams/test'> }): ReactNode {
  const { say, format } = useText();
  if (of.failure !== null)
    return (
      <Callout tone="fault" isAlert>
        {problemText(of.failure)}
      </Callout>
    );
  if (of.state === 'running') return <p role="status">{say('resolving.test.running')}</p>;
  if (of.result === null) return null;
  return (
    <div role="status">
      <DataTable
        label={say('resolving.test.results')}
        rows={of.result}
        keyOf={({ address }) => address}
        columns={[
          {
            id: 'server',
            title: say('resolving.server'),
            isName: true,
            cell: ({ address }) => <bdi className={styles['address']}>{address}</bdi>,
          },
          { id: 'state', title: say('field.state'), cell: (result) => <State result={result} /> },
          {
            id: 'latency',
            title: say('resolving.test.latency'),
            isNumber: true,
            cell: ({ latency_ms: ms }) => (ms === null ? '–' : format.duration(ms * 1_000)),
          },
          {
            id: 'dnssec',
            title: say('resolving.dnssec'),
            cell: ({ dnssec }) => (dnssec === 'unknown' ? '–' : say(`resolving.test.${dnssec}`)),
          },
        ]}
      />
    </div>
  );
}

function State({ result: { answers, error } }: { readonly result: Result }): ReactNode {
  const { say } = useText();
  if (answers)
    return (
      <Badge tone="good" icon={CircleCheck}>
        {say('resolving.test.answers')}
      </Badge>
    );
  return (
    <span className={styles['server']}>
      <Badge tone="fault" icon={CircleAlert}>
        {say('resolving.test.silent')}
      </Badge>
      <span className={styles['fault']}>{messageText(error ?? '')}</span>
    </span>
  );
}
