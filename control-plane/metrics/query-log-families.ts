/** Metrics of the parts that take the query log to the database: rings of the threads, writer and spool. */
import { LogRing } from '../../shared/query-log.ts';
import type { StreamCounters } from '../query-log/dnstap/frame-stream.ts';
import type { LogWriterCounters } from '../query-log/store/log-tally.ts';
import { type Family, family, single } from './family.ts';
import { THREAD_LABELS, type ThreadCounters } from './thread-counters.ts';

/** Readers for the values of these metrics. */
export interface QueryLogReads {
  readonly counters: () => LogWriterCounters;
  /** Size of the spool in bytes; null = unknown. */
  readonly spoolBytes: () => Promise<number | null>;
  /** Size limit of the spool, bytes. */
  readonly spoolLimitBytes: number;
  /** Number of failed exports of finished days. */
  readonly exportFailures: () => number;
  /** Counters of the dnstap stream; undefined = no stream. */
  readonly dnstap: () => StreamCounters | undefined;
}

/** Families of the query log. */
export function queryLogFamilies(threads: readonly ThreadCounters[], reads: QueryLogReads): Family[] {
  const { counters, spoolBytes, exportFailures, dnstap } = reads;
  const rows = (of: 'spooled' | 'dropped' | 'refused', help: string): Family =>
    single('counter', `weir_query_log_${of}_rows_total`, help, () => counters()[of]);
  return [
    single(
      'counter',
      'weir_query_log_written_rows_total',
      'Rows in the database',
      // The value may decrease, because rows that a failed database may have lost no longer count until they are
      // written again.
      rising(() => counters().written),
    ),
    rows('spooled', 'Rows written to the spool on disk because the database was unavailable'),
    rows('dropped', 'Rows lost: over a limit, or not writable to disk'),
    rows('refused', 'Rows that the database rejected because of their content, stored in a file'),
    single('gauge', 'weir_query_log_waiting_rows', 'Rows in memory', () => counters().waiting),
    single('gauge', 'weir_query_log_spool_bytes', 'Bytes of the spool on disk', spoolBytes),
    single(
      'gauge',
      'weir_query_log_spool_max_bytes',
      'Size limit of the spool; above it, the oldest rows are dropped',
      () => reads.spoolLimitBytes,
    ),
    single(
      'counter',
      'weir_query_log_export_failures_total',
      'Attempts to write finished days as files (database.export_dir) that failed',
      exportFailures,
    ),
    single(
      'counter',
      'weir_dnstap_sent_frames_total',
      'Queries streamed as dnstap',
      () => dnstap()?.sent ?? 0,
    ),
    single(
      'counter',
      'weir_dnstap_lost_frames_total',
      'Queries not streamed because the receiver was slow or unavailable',
      () => dnstap()?.lost ?? 0,
    ),
    family(
      'counter',
      'weir_query_log_ring_dropped_rows_total',
      "Rows lost because a thread's log ring was full",
      THREAD_LABELS,
      () =>
        threads.map(({ labels, log }) => ({ labels, value: Atomics.load(log, LogRing.DROPPED_WORD) >>> 0 })),
    ),
  ];
}

/** The largest value so far, because Prometheus interprets a falling counter as a restart. */
function rising(read: () => number): () => number {
  let largest = 0;
  return () => (largest = Math.max(largest, read()));
}
