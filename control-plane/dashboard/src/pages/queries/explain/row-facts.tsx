/**
 * Values of a row with buttons to filter by them. These values are below the visible part of the drawer, and are loaded
 * after it.
 */
import { Funnel, FunnelX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { IconButton } from '../../../ui/controls/button.tsx';
import type { ConditionName } from '../filters/log-filters.ts';
import type { LogRow } from '../log/log-rows.ts';
import styles from './explain.module.css';

/** Sets a filter condition. */
export type OnFilter = (name: ConditionName, value: string, isExcluded: boolean) => void;

interface RowFactsProps {
  readonly row: LogRow;
  /** Text of a value. */
  readonly textOf: (name: ConditionName, value: string) => string;
  readonly onFilter: OnFilter;
}

/** All values of the row, with buttons to filter by each. */
export default function RowFacts({ row, textOf, onFilter }: RowFactsProps): ReactNode {
  const { say } = useText();
  const values: readonly (readonly [ConditionName, string | null])[] = [
    ['domain', row.domain],
    ['client', row.client],
    ['group_id', String(row.group_id)],
    ['type', row.type],
    ['status', row.status],
    ['rcode', row.rcode],
    ['protocol', row.protocol],
    ['upstream', row.upstream],
    ['dnssec', row.dnssec_status],
    // The source of a rule for one name is the name itself, so it need not be shown again.
    ['block_source', row.block_source === row.domain ? null : row.block_source],
    ['node', row.node],
  ];
  return (
    <section className={styles['part']}>
      <h3>{say('queries.facts')}</h3>
      <dl className={styles['facts']}>
        {values.map(([name, value]) => {
          if (value === null || value === '') return null;
          const text = textOf(name, value);
          return (
            <div key={name}>
              <dt>{say(`queries.condition.${name}`)}</dt>
              <dd>
                <bdi className={styles['factText']}>{text}</bdi>
                <IconButton
                  icon={Funnel}
                  label={say('queries.only', { value: text })}
                  onPress={() => onFilter(name, value, false)}
                />
                <IconButton
                  icon={FunnelX}
                  label={say('queries.without', { value: text })}
                  onPress={() => onFilter(name, value, true)}
                />
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
