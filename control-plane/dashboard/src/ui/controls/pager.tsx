/** Pager of a long list: the range of shown rows, and buttons for the previous and next page. */
import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { IconButton } from './button.tsx';
import styles from './pager.module.css';

interface PagerProps {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly onMove: (offset: number) => void;
}

/** Renders nothing if all rows are on one page. */
export function Pager({ total, limit, offset, onMove }: PagerProps): ReactNode {
  const { say, format } = useText();
  if (total <= limit && offset === 0) return null;
  const last = Math.min(offset + limit, total);
  return (
    <nav className={styles['pager']} aria-label={say('pager.label')}>
      <span className={styles['place']} role="status">
        {say('pager.place', {
          first: format.count(Math.min(offset + 1, total)),
          last: format.count(last),
          total: format.count(total),
        })}
      </span>
      <span className={styles['buttons']}>
        <IconButton
          icon={ChevronLeft}
          kind="plain"
          label={say('pager.before')}
          isDisabled={offset === 0}
          onPress={() => onMove(Math.max(0, offset - limit))}
        />
        <IconButton
          icon={ChevronRight}
          kind="plain"
          label={say('pager.after')}
          isDisabled={last >= total}
          onPress={() => onMove(offset + limit)}
        />
      </span>
    </nav>
  );
}
