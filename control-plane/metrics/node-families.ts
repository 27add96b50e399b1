/** Metrics of the node as a whole: build, workers, policy, database. */
import { type Family, family, single } from './family.ts';

/** Readers for the values of these metrics. */
export interface NodeReads {
  readonly version: string;
  readonly workers: () => { readonly answering: number; readonly workers: number; readonly restarts: number };
  readonly snapshotVersion: () => number;
  readonly threadsBehind: () => number;
  /** Reads the newest revision; null if the database does not respond, or before the first change. */
  readonly revision: () => Promise<number | null>;
  readonly isDatabaseUp: () => boolean;
  readonly isClockWrong: () => boolean;
}

/** Families of the node. */
export function nodeFamilies(reads: NodeReads): Family[] {
  const build = { version: reads.version, node: process.versions.node };
  const gauge = (name: string, help: string, read: () => number | Promise<number | null>): Family =>
    single('gauge', name, help, read);
  return [
    family('gauge', 'weir_build_info', 'Version of Weir and of Node.js', ['version', 'node'], () => [
      { labels: build, value: 1 },
    ]),
    gauge('weir_workers', 'Workers, each with an answer and a resolve thread', () => reads.workers().workers),
    gauge('weir_workers_answering', 'Workers that are answering', () => reads.workers().answering),
    single(
      'counter',
      'weir_threads_replaced_total',
      'DNS threads that died or hung',
      () => reads.workers().restarts,
    ),
    gauge('weir_snapshot_version', 'Version of the active policy snapshot', reads.snapshotVersion),
    gauge(
      'weir_snapshot_threads_behind',
      'Threads that did not acknowledge the last snapshot in time',
      reads.threadsBehind,
    ),
    gauge('weir_policy_revision', 'Newest revision of the policy in the database', reads.revision),
    gauge('weir_database_up', '1 = the database answers', () => (reads.isDatabaseUp() ? 1 : 0)),
    gauge(
      'weir_clock_wrong',
      '1 = the clock is earlier than the release of Weir or than the last known time',
      () => (reads.isClockWrong() ? 1 : 0),
    ),
  ];
}
