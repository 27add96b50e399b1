/** Top list: names with bars for their counts. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import styles from './bar-list.module.css';

export interface BarRow {
  readonly key: string;
  readonly name: ReactNode;
  readonly count: number;
}

interface BarListProps {
  readonly rows: readonly BarRow[];
  readonly tone?: 'allowed' | 'blocked';
}

/** The first row must have the highest count, to which the lengths of all bars are relative. */
export function BarList({ rows, tone = 'allowed' }: BarListProps): ReactNode {
  const { format } = useText();
  const max = Math.max(1, ...rows.map(({ count }) => count));
  return (
    <ol className="rows-2">
      {rows.map(({ key, name, count }) => (
        <li key={key} className={styles['row']}>
          <span className={styles['name']}>{name}</span>
          <span className={styles['count']}>{format.count(count)}</span>
          <svg className={styles[tone]} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden>
            <rect width={(count / max) * 100} height="4" />
          </svg>
        </li>
      ))}
    </ol>
  );
}
