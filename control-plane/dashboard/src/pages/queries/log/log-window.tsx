/**
 * Virtual list of the log: only visible rows have elements. While the user has scrolled down, new rows are shown only
 * after a click on a button. The arrow keys move between rows.
 */
import { ArrowUp } from 'lucide-react';
import { memo, startTransition, useCallback, useEffect, useImperativeHandle, useRef, useState } from 'react';
import type { KeyboardEvent, MouseEvent, ReactNode, Ref, RefObject } from 'react';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Skeleton } from '../../../ui/display/states.tsx';
import { LogRowView } from './log-row.tsx';
import type { LogView } from './log-reader.ts';
import type { LogRow, LogRows } from './log-rows.ts';
import { useSight } from './sight.ts';
import { useLogView } from './use-log.ts';
import type { ShownLog } from './use-log.ts';
import styles from './log-window.module.css';

/** Actions of keys and buttons on the log. */
export interface LogHandle {
  /** Scrolls a row into view, and focuses it unless a dialog is open. */
  readonly goTo: (index: number) => void;
}

/** A value in a row that the user clicked. */
export interface PressedValue {
  readonly element: HTMLElement;
  readonly field: string;
  readonly row: LogRow;
}

interface LogWindowProps {
  readonly log: ShownLog;
  /** Index of the row to which keyboard actions apply. */
  readonly current: number;
  readonly onCurrent: (index: number) => void;
  readonly onOpen: (index: number) => void;
  readonly onValue: (value: PressedValue) => void;
  /** Whether rows must not move, because a dialog is open. */
  readonly isHeld: boolean;
  readonly handle: Ref<LogHandle>;
}

const COLUMNS = ['time', 'client', 'name', 'type', 'status', 'answer', 'dnssec'] as const;

export function LogWindow(props: LogWindowProps): ReactNode {
  const { log, current, onCurrent, onOpen, onValue, isHeld, handle } = props;
  const { reader } = log;
  const view = useLogView(log);
  const { say, format } = useText();
  const whole = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const wanted = useRef<number | null>(null);
  const { first, last, rowPx, isScrolled } = useSight({ rows, head, probe }, view.count);
  const { isRead, endReading } = useReading(whole, rows, isScrolled);
  const shown = Array.from(
    { length: Math.max(0, Math.min(last, view.count) - first) },
    (_, step) => first + step,
  );

  useEffect(() => reader.pause(isRead || isHeld), [reader, isRead, isHeld]);
  useEffect(() => {
    if (rowPx > 0) reader.see(first, last);
  }, [reader, view, first, last, rowPx]);
  useFocusOnRow(rows, wanted);

  const goTo = (index: number): void => {
    const there = Math.max(0, Math.min(index, view.count - 1));
    wanted.current = isHeld ? null : there;
    onCurrent(there);
    bringIntoSight(there * rowPx, rowPx, rows.current, head.current);
    focusWanted(rows.current, wanted);
  };
  useImperativeHandle(handle, () => ({ goTo }));

  return (
    <div ref={whole} className={styles['log']}>
      {view.waiting > 0 && (isRead || isHeld) && (
        <News
          count={view.waiting}
          onPress={() => {
            endReading();
            reader.showWaiting();
            onCurrent(0);
            scrollTo({ top: 0 });
          }}
        />
      )}
      <div role="grid" aria-label={say('queries.log')} aria-rowcount={view.count + 1}>
        <Titles head={head} />
        <div
          ref={rows}
          role="rowgroup"
          className={styles['rows']}
          style={{ height: view.count * rowPx }}
          onClick={(event) => press(event, view.rows, onOpen, onValue)}
          onFocus={({ target }) => {
            const index = indexOf(target);
            // Mark the row at the lowest priority, because opening the details is more urgent.
            if (index !== null && index !== current) startTransition(() => onCurrent(index));
          }}
          onKeyDown={(event) => {
            const there = indexAfter(event, current, Math.floor(innerHeight / (rowPx || 1)) - 3, view.count);
            if (there !== null) goTo(there);
            else if (event.key === 'Enter' || event.key === ' ') onOpen(current);
            else return;
            event.preventDefault();
          }}
        >
          <div ref={probe} className={`${styles['row']} ${styles['probe']}`} aria-hidden />
          <div
            role="presentation"
            className={styles['shown']}
            style={{ transform: `translateY(${first * rowPx}px)` }}
          >
            {/* The React key is the position, so that new rows change only texts and the elements are reused. */}
            {shown.map((index) => {
              const known = view.rows.at(index);
              if (known === null) return <LostRow key={index} index={index} />;
              return (
                <LogRowView
                  key={index}
                  row={known.row}
                  index={index}
                  isCurrent={index === current || (current < first && index === first)}
                  say={say}
                  format={format}
                />
              );
            })}
          </div>
        </div>
      </div>
      <Foot view={view} />
    </div>
  );
}

/** Focuses the wanted row as soon as it has an element. */
function useFocusOnRow(rows: RefObject<HTMLElement | null>, wanted: RefObject<number | null>): void {
  useEffect(() => focusWanted(rows.current, wanted));
}

function focusWanted(rows: HTMLElement | null, wanted: RefObject<number | null>): void {
  if (wanted.current === null) return;
  const element = rows?.querySelector<HTMLElement>(`[data-index="${wanted.current}"]`);
  if (element === null || element === undefined) return;
  wanted.current = null;
  element.focus({ preventScroll: true });
}

function Foot({ view }: { readonly view: LogView }): ReactNode {
  const { say } = useText();
  if (view.failure !== null) return null;
  if (view.totals === null)
    return (
      <div className={styles['first']}>
        <Skeleton lines={12} />
      </div>
    );
  return <p className={styles['foot']}>{say(view.rows.next === null ? 'queries.end' : 'state.loading')}</p>;
}

const Titles = memo(function Titles({ head }: { readonly head: Ref<HTMLDivElement> }): ReactNode {
  const { say } = useText();
  return (
    <div ref={head} className={styles['head']} role="rowgroup">
      <div role="row" aria-rowindex={1} className={styles['titles']}>
        {COLUMNS.map((id) => (
          <span key={id} role="columnheader">
            {say(`queries.column.${id}`)}
          </span>
        ))}
      </div>
    </div>
  );
});

function News({ count, onPress }: { readonly count: number; readonly onPress: () => void }): ReactNode {
  const { say, format } = useText();
  return (
    <div className={styles['news']}>
      <div className={styles['newsPlace']}>
        <Button kind="main" icon={ArrowUp} onPress={onPress}>
          {say('queries.news', { count, shown: format.count(count) })}
        </Button>
      </div>
    </div>
  );
}

/** Placeholder of a row that is being loaded again. */
function LostRow({ index }: { readonly index: number }): ReactNode {
  return (
    <div role="row" aria-rowindex={index + 2} className={styles['row']} data-index={index} tabIndex={-1}>
      <div role="gridcell">
        <span className={styles['bone']} />
      </div>
    </div>
  );
}

function press(
  event: MouseEvent,
  rows: LogRows,
  onOpen: (index: number) => void,
  onValue: (value: PressedValue) => void,
): void {
  const index = indexOf(event.target as Element);
  if (index === null || getSelection()?.isCollapsed === false) return;
  const element = (event.target as Element).closest<HTMLElement>('[data-filter]');
  const known = rows.at(index);
  // On a touch screen, a tap opens the row, because its values are too close together; the drawer lists all of them.
  if (element === null || known === null || !matchMedia('(hover: hover)').matches) return onOpen(index);
  onValue({ element, field: element.dataset['filter'] ?? '', row: known.row });
}

function indexOf(target: Element): number | null {
  const index = target.closest<HTMLElement>('[data-index]')?.dataset['index'];
  return index === undefined ? null : Number(index);
}

/** Index of the row that a key moves to; null if the key does not move between rows. */
function indexAfter({ key }: KeyboardEvent, current: number, page: number, count: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  return step === undefined ? null : Math.max(0, Math.min(current + step, count - 1));
}

function bringIntoSight(
  topPx: number,
  rowPx: number,
  rows: HTMLElement | null,
  head: HTMLElement | null,
): void {
  if (rows === null || head === null) return;
  const top = rows.getBoundingClientRect().top + topPx;
  const edge = Math.max(0, head.getBoundingClientRect().bottom);
  // Leave space for the bar on phones and for elements that cover the edges.
  const below = innerHeight - 2 * rowPx;
  if (top < edge) scrollBy({ top: top - edge - rowPx, behavior: 'instant' });
  else if (top > below) scrollBy({ top: top - below, behavior: 'instant' });
}

/** Whether the user is reading rows, and a function that sets this to false until the next interaction. */
function useReading(
  whole: RefObject<HTMLElement | null>,
  rows: RefObject<HTMLElement | null>,
  isScrolled: boolean,
): { readonly isRead: boolean; readonly endReading: () => void } {
  const [isPointedAt, setPointedAt] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [isMarked, setMarked] = useState(false);
  useEffect(() => {
    const element = rows.current;
    const frame = whole.current;
    if (element === null || frame === null) return undefined;
    const controller = new AbortController();
    const on = { signal: controller.signal };
    const isMouse = (event: PointerEvent): boolean => event.pointerType !== 'touch';
    // Also watch the button for new rows, which must not move away from the pointer.
    frame.addEventListener('pointerenter', (event) => setPointedAt(isMouse(event)), on);
    frame.addEventListener('pointerleave', () => setPointedAt(false), on);
    element.addEventListener('focusin', () => setFocused(true), on);
    element.addEventListener('focusout', () => setFocused(false), on);
    document.addEventListener('selectionchange', () => setMarked(isMarkedIn(element)), on);
    return () => controller.abort();
  }, [whole, rows]);
  const endReading = useCallback(() => {
    if (rows.current?.contains(document.activeElement) === true)
      (document.activeElement as HTMLElement).blur();
    setFocused(false);
  }, [rows]);
  return { isRead: isPointedAt || isFocused || isMarked || isScrolled, endReading };
}

function isMarkedIn(element: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && element.contains(selection.anchorNode);
}
