/** Filters of a table: a search field and choices. */
import type { ReactNode } from 'react';
import { SearchField } from '../controls/fields.tsx';
import { Bar } from './page.tsx';
import styles from './page.module.css';

interface FiltersProps {
  readonly label: string;
  readonly search: string;
  readonly onSearch: (text: string) => void;
  /** Whether the search field is short, so that several choices fit in the same line. */
  readonly isShort?: boolean;
  readonly children?: ReactNode;
}

export function Filters({ label, search, onSearch, isShort = false, children }: FiltersProps): ReactNode {
  return (
    <Bar>
      <div className={`${styles['search']} ${isShort ? styles['short'] : ''}`}>
        <SearchField label={label} value={search} onChange={onSearch} />
      </div>
      {children}
    </Bar>
  );
}
