/** Effects of a draft: a sentence, then names or clients with their counts. */
import { Ban, Check } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Segments } from '../controls/segments.tsx';
import { DataTable } from '../display/data-table.tsx';
import type { Column } from '../display/data-table.tsx';
import { Progress } from '../display/progress.tsx';
import { Callout, FormFault } from '../display/states.tsx';
import { Badge, DomainName } from '../display/values.tsx';
import { notesOf } from './simulation-notes.ts';
import styles from './simulation-view.module.css';
import type { Simulated, Simulating } from './use-simulation.ts';

interface SimulationViewProps {
  readonly of: Simulating;
  /** Text of the selected period: "7 days". */
  readonly period: string;
}

/** Shows the progress of a simulation, then its result. */
export function SimulationView({ of, period }: SimulationViewProps): ReactNode {
  const { say } = useText();
  if (of.state === 'running')
    return <Progress onCancel={of.cancel}>{say('whatif.running', { period })}</Progress>;
  if (of.failure !== null) return <FormFault failure={of.failure} />;
  return of.result === null ? null : <Answer simulated={of.result} period={period} />;
}

function Answer({
  simulated,
  period,
}: {
  readonly simulated: Simulated;
  readonly period: string;
}): ReactNode {
  const { say, format } = useText();
  const [by, setBy] = useState<'names' | 'clients'>('names');
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The braces ensure that nothing is returned: new browsers return a promise, which React would use as the cleanup
    // function.
    place.current?.scrollIntoView({ block: 'nearest' });
  }, [simulated]);
  const { newly_blocked: blocked, newly_allowed: allowed, lists } = simulated;
  const changes = blocked.queries + allowed.queries > 0;
  return (
    <div ref={place} className={styles['answer']} role="status">
      {!changes && <Callout tone="good">{say('whatif.nothing', { period })}</Callout>}
      {blocked.queries > 0 && (
        <Callout tone="warning">{say('whatif.wouldBlock', { ...blocked, period })}</Callout>
      )}
      {allowed.queries > 0 && (
        <Callout tone="info">{say('whatif.wouldAllow', { ...allowed, period })}</Callout>
      )}
      {changes && (
        <Segments
          label={say('whatif.by')}
          value={by}
          onChange={setBy}
          choices={[
            { id: 'names', text: say('lists.sort.name') },
            { id: 'clients', text: say('whatif.byClient') },
          ]}
        />
      )}
      {changes && (by === 'names' ? <Names simulated={simulated} /> : <Clients simulated={simulated} />)}
      <ul className={styles['notes']}>
        {lists.map(({ name, rules, invalid_lines: bad }, place) => (
          <li key={place}>{say('whatif.list', { name, rules, bad })}</li>
        ))}
        {notesOf(simulated).map(({ key, count }) => (
          <li key={key}>{say(key, { count, judged: simulated.queries.judged })}</li>
        ))}
        {simulated.oldest !== null && (
          <li>{say('whatif.reach', { oldest: format.moment(simulated.oldest) })}</li>
        )}
      </ul>
    </div>
  );
}

function Counts({ row }: { readonly row: ChangedName | ChangedClient }): ReactNode {
  const { say } = useText();
  const { newly_blocked: blocked, newly_allowed: allowed } = row;
  return (
    <span className={styles['counts']}>
      {blocked > 0 && (
        <Badge tone="blocked" icon={Ban}>
          {say('whatif.blockedCount', { count: blocked })}
        </Badge>
      )}
      {allowed > 0 && (
        <Badge tone="allowed" icon={Check}>
          {say('whatif.allowedCount', { count: allowed })}
        </Badge>
      )}
    </span>
  );
}

type ChangedName = Simulated['domains'][number];
type ChangedClient = Simulated['clients'][number];

function Names({ simulated }: { readonly simulated: Simulated }): ReactNode {
  const { say } = useText();
  const columns: readonly Column<ChangedName>[] = [
    {
      id: 'name',
      title: say('field.name'),
      isName: true,
      cell: ({ domain }) => <DomainName name={domain} />,
    },
    { id: 'counts', title: say('field.change'), cell: (row) => <Counts row={row} /> },
    {
      id: 'clients',
      title: say('page.clients'),
      cell: ({ clients, clients_total: total }) => (
        <bdi>
          <Few
            names={clients.map(({ ip_address: address, hostname }) => hostname ?? address)}
            total={total}
          />
        </bdi>
      ),
    },
    {
      id: 'rule',
      title: say('whatif.rule'),
      cell: ({ before, after }) => {
        const rule = after.rule ?? before.rule;
        return rule === null ? null : (
          <bdi className={styles['rule']} title={rule.rule}>
            {rule.source}
          </bdi>
        );
      },
    },
  ];
  return (
    <>
      <DataTable
        label={say('lists.sort.name')}
        columns={columns}
        rows={simulated.domains}
        keyOf={({ domain }) => domain}
      />
      <Rest shown={simulated.domains.length} total={simulated.domains_total} />
    </>
  );
}

function Clients({ simulated }: { readonly simulated: Simulated }): ReactNode {
  const { say } = useText();
  const columns: readonly Column<ChangedClient>[] = [
    {
      id: 'client',
      title: say('field.client'),
      isName: true,
      cell: ({ ip_address: address, hostname }) => <bdi title={address}>{hostname ?? address}</bdi>,
    },
    { id: 'counts', title: say('field.change'), cell: (row) => <Counts row={row} /> },
    {
      id: 'names',
      title: say('field.names'),
      cell: ({ domains, domains_total: total }) => (
        <bdi className={styles['rule']}>
          <Few names={domains.map(({ domain }) => domain)} total={total} />
        </bdi>
      ),
    },
  ];
  return (
    <>
      <DataTable
        label={say('whatif.byClient')}
        columns={columns}
        rows={simulated.clients}
        keyOf={({ ip_address: address }) => address}
      />
      <Rest shown={simulated.clients.length} total={simulated.clients_total} />
    </>
  );
}

function Rest({ shown, total }: { readonly shown: number; readonly total: number }): ReactNode {
  const { say } = useText();
  return total > shown ? <p className={styles['rest']}>{say('whatif.rest', { shown, total })}</p> : null;
}

const FEW = 3;

/** The first names, and the number of all further names. */
function Few({ names, total }: { readonly names: readonly string[]; readonly total: number }): ReactNode {
  const { say, format } = useText();
  const first = names.slice(0, FEW);
  const rest = total > first.length ? [`${total - first.length} ${say('whatif.more')}`] : [];
  return format.list([...first, ...rest]);
}
