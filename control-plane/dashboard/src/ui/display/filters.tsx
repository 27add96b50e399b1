/** Filters of a table: a search field and choices; phones can show the choices only on request. */
import { SlidersHorizontal } from 'lucide-react';
import { useId, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { SearchField } from '../controls/fields.tsx';
import { Bar } from './page.tsx';
import styles from './page.module.css';

interface FiltersProps {
  readonly label: string;
  readonly search: string;
  readonly onSearch: (text: string) => void;
  /** Whether the search field is short, so that several choices fit in the same line. */
  readonly isShort?: boolean;
  /**
   * Number of choices that currently select rows. If it is given, a phone shows the choices only after a press on a
   * button.
   */
  readonly activeCount?: number;
  readonly children?: ReactNode;
}

export function Filters({
  label,
  search,
  onSearch,
  isShort = false,
  activeCount,
  children,
}: FiltersProps): ReactNode {
  return (
    <Bar>
      <div className={`${styles['search']} ${isShort ? styles['short'] : ''}`}>
        <SearchField label={label} value={search} onChange={onSearch} />
      </div>
      {activeCount === undefined ? children : <Choices activeCount={activeCount}>{children}</Choices>}
    </Bar>
  );
}

interface ChoicesProps {
  readonly activeCount: number;
  readonly children: ReactNode;
}

function Choices({ activeCount, children }: ChoicesProps): ReactNode {
  const { say } = useText();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <div className={styles['opener']}>
        <Button
          icon={SlidersHorizontal}
          aria-expanded={isOpen}
          aria-controls={id}
          onPress={() => setOpen(!isOpen)}
        >
          {say('filters.open', { count: activeCount })}
        </Button>
      </div>
      <div id={id} className={`${styles['choices']} ${isOpen ? styles['open'] : ''}`}>
        {children}
      </div>
    </>
  );
}
