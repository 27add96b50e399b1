/** A list update that waits for approval: its effects, and a button to apply it. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import { ForAdmins } from '../../api/session.tsx';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Callout } from '../../ui/display/states.tsx';
import { DomainName, Facts } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { SimulationView } from '../../ui/policy/simulation-view.tsx';
import { useSimulation } from '../../ui/policy/use-simulation.ts';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import type { Source } from './list-rows.ts';
import styles from './lists-page.module.css';

interface HeldUpdateProps {
  readonly kind: SourceKind;
  readonly source: Source;
}

/** Renders nothing without a held update. */
export function HeldUpdate({ kind, source }: HeldUpdateProps): ReactNode {
  const { say } = useText();
  const [isAsking, setAsking] = useState(false);
  const operations = operationsOf(kind);
  const approve = useChange(operations.approve, { done: 'lists.approved', onDone: () => setAsking(false) });
  const simulation = useSimulation();
  if (source.status !== 'held') return null;
  // This is also true if a new release of Weir interprets the only copy of the list differently.
  const isFirst = source.last_changed_at === null || source.held?.rules_in_force === 0;
  return (
    <section className={styles['part']}>
      <Callout tone="warning">{say(isFirst ? 'lists.held.first' : 'lists.held.lead')}</Callout>
      <HeldFacts source={source} />
      <ForAdmins>
        <div className={styles['buttons']}>
          <Button
            isPending={simulation.state === 'running'}
            onPress={() =>
              simulation.run({ period: '7d', lists: { add: [{ source_id: source.id }], drop: [] } })
            }
          >
            {say('lists.held.whatif')}
          </Button>
          <Button kind="main" onPress={() => setAsking(true)}>
            {say('action.apply')}
          </Button>
        </div>
        <SimulationView of={simulation} period={say('period.7d')} />
        <Confirm
          title={say('lists.held.ask', { name: source.name })}
          action={say('action.apply')}
          isOpen={isAsking}
          isPending={approve.isPending}
          onClose={() => setAsking(false)}
          onConfirm={() => void approve.run({ params: { id: source.id } })}
        >
          <p>{say('lists.held.askText')}</p>
          <HeldFacts source={source} />
        </Confirm>
      </ForAdmins>
    </section>
  );
}

function HeldFacts({ source: { held } }: { readonly source: Source }): ReactNode {
  const { say, format } = useText();
  if (held === null) return null;
  const { reason, rules, rules_in_force: before, names, name_count: total, wide_rules: wide = [] } = held;
  const percent = format.count(held.address_percent ?? 0);
  return (
    <>
      <Facts
        facts={[
          [say('lists.held.why'), say(`lists.held.${reason}`, { percent })],
          [say('lists.held.before'), say('lists.ruleCount', { count: before })],
          [
            say('lists.held.after'),
            rules === null
              ? say('lists.held.unknown')
              : `${say('lists.ruleCount', { count: rules })} (${signed(rules - before, format.count)})`,
          ],
        ]}
      />
      {wide.length > 0 && (
        <div>
          <h3>{say('lists.held.rules')}</h3>
          <ul className={styles['names']}>
            {wide.map(({ line, rule }) => (
              <li key={line}>{rule}</li>
            ))}
          </ul>
        </div>
      )}
      {total > 0 && (
        <div>
          <h3>{say('lists.held.names', { count: total })}</h3>
          <ul className={styles['names']}>
            {names.map((name) => (
              <li key={name}>
                <DomainName name={name} />
              </li>
            ))}
            {total > names.length && <li>{say('word.rest', { count: total - names.length })}</li>}
          </ul>
        </div>
      )}
    </>
  );
}

function signed(count: number, format: (count: number) => string): string {
  return count < 0 ? `−${format(-count)}` : `+${format(count)}`;
}
