/** Computes the visible rows of the log while the page is scrolled or resized. */
import { useEffect, useState } from 'react';
import type { RefObject } from 'react';
import { visibleRows } from './visible-rows.ts';
import type { RowRange } from './visible-rows.ts';

/** Elements to measure. */
export interface SightParts {
  /** The container of the rows. */
  readonly rows: RefObject<HTMLElement | null>;
  /** The header above the rows, which covers the first rows when the page is scrolled. */
  readonly head: RefObject<HTMLElement | null>;
  /** An invisible row with the same height as all rows. */
  readonly probe: RefObject<HTMLElement | null>;
}

/** Rows that need elements, the height of a row, and whether the newest row is above the upper edge. */
export interface Seen extends RowRange {
  readonly rowPx: number;
  readonly isScrolled: boolean;
}

const NOTHING: Seen = { first: 0, last: 0, rowPx: 0, isScrolled: false };

/** Visible part of a list with this many rows. */
export function useSight({ rows, head, probe }: SightParts, count: number): Seen {
  const [seen, setSeen] = useState(NOTHING);
  useEffect(() => {
    let frame = 0;
    const check = (): void => {
      frame = 0;
      const sight = measure(rows.current, head.current, probe.current, count);
      setSeen((before) => (isSame(before, sight) ? before : sight));
    };
    const checkSoon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(check);
    };
    check();
    const sizes = new ResizeObserver(checkSoon);
    for (const { current } of [probe, rows]) if (current !== null) sizes.observe(current);
    addEventListener('scroll', checkSoon, { passive: true });
    addEventListener('resize', checkSoon);
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      removeEventListener('scroll', checkSoon);
      removeEventListener('resize', checkSoon);
    };
  }, [rows, head, probe, count]);
  return seen;
}

function measure(
  rows: HTMLElement | null,
  head: HTMLElement | null,
  probe: HTMLElement | null,
  count: number,
): Seen {
  if (rows === null || head === null || probe === null) return NOTHING;
  const rowPx = probe.offsetHeight;
  const abovePx = Math.max(0, head.getBoundingClientRect().bottom) - rows.getBoundingClientRect().top;
  const range = visibleRows({ abovePx, heightPx: innerHeight, rowPx, count });
  return { ...range, rowPx, isScrolled: abovePx > 2 };
}

function isSame(one: Seen, other: Seen): boolean {
  return (
    one.first === other.first &&
    one.last === other.last &&
    one.rowPx === other.rowPx &&
    one.isScrolled === other.isScrolled
  );
}
