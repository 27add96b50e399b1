/** Steps through the pages of a long list that the server cuts. */
import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { IconButton } from '../controls/button.tsx';
import { Bar } from './page.tsx';

interface PagerProps {
  readonly total: number;
  /** Rows before this page. */
  readonly offset: number;
  /** Rows of a page. */
  readonly limit: number;
  readonly onMove: (offset: number) => void;
}

/** Which rows these are, and the steps; nothing where all are on one page. */
export function Pager({ total, offset, limit, onMove }: PagerProps): ReactNode {
  const { say, format } = useText();
  if (total <= limit && offset === 0) return null;
  const last = Math.min(total, offset + limit);
  return (
    <nav aria-label={say('pager.label')}>
      <Bar>
        <span role="status">
          {say('pager.rows', {
            first: format.count(Math.min(offset + 1, total)),
            last: format.count(last),
            total: format.count(total),
          })}
        </span>
        <IconButton
          icon={ChevronLeft}
          label={say('pager.before')}
          isDisabled={offset === 0}
          onPress={() => onMove(Math.max(0, offset - limit))}
        />
        <IconButton
          icon={ChevronRight}
          label={say('pager.next')}
          isDisabled={last >= total}
          onPress={() => onMove(offset + limit)}
        />
      </Bar>
    </nav>
  );
}
