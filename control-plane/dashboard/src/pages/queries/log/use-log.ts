/** The log for components: its rows, and the live tail while the page is visible. */
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { ask } from '../../../api/ask.ts';
import { API_BASE } from '../../../api/place.ts';
import { LogReader } from './log-reader.ts';
import type { LogView } from './log-reader.ts';
import { PAGE_ROWS } from './page-rows.ts';
import { Tail } from './tail.ts';
import type { TailState } from './tail.ts';

/** Filter conditions as API parameters. */
export type LogFilters = Readonly<Record<string, string>>;

/** The log and the state of its live tail. The state is `off` if the tail is disabled or the page is not visible. */
export interface ShownLog {
  readonly reader: LogReader;
  readonly tail: TailState | 'off';
}

/** Reads the rows that the filters select. Pass the same object while the filters do not change. */
export function useLog(filters: LogFilters, isLive: boolean): ShownLog {
  const reader = useMemo(() => readerOf(filters), [filters]);
  const [tail, setTail] = useState<TailState | 'off'>('off');
  const isSeen = useSyncExternalStore(watchVisibility, () => !document.hidden);

  useEffect(() => {
    void reader.reload();
    return () => reader.close();
  }, [reader]);

  useEffect(() => {
    if (!isLive || !isSeen) return undefined;
    const stream = new Tail({
      open: () => new EventSource(`${API_BASE}/queries/stream?${new URLSearchParams(filters)}`),
      reachable: () => ask('GET /queries', { query: { limit: 1 } }),
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      onEvent: (event) => reader.take(event),
      onState: (state) => {
        setTail(state);
        // The log contains the rows that arrived while no stream was open.
        if (state === 'open') void reader.catchUp();
      },
    });
    return () => {
      stream.close();
      setTail('off');
    };
  }, [reader, filters, isLive, isSeen]);

  return useMemo(() => ({ reader, tail }), [reader, tail]);
}

/**
 * The current view of the log. Only for components that show rows, because each of them renders up to ten times a
 * second.
 */
export function useLogView({ reader }: ShownLog): LogView {
  return useSyncExternalStore(reader.watch, reader.view);
}

/** Whether the filters match no row. */
export function useIsEmpty({ reader }: ShownLog): boolean {
  return useSyncExternalStore(reader.watch, () => {
    const { totals, count, rows } = reader.view();
    return totals !== null && count === 0 && rows.next === null;
  });
}

function readerOf(filters: LogFilters): LogReader {
  return new LogReader({
    read: ({ cursor, before }) =>
      ask('GET /queries', {
        query: {
          ...filters,
          limit: PAGE_ROWS,
          ...(before !== null && { to: before }),
          ...(cursor !== null && { cursor }),
        },
      }),
    later: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    nowMs: () => performance.now(),
  });
}

function watchVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}
