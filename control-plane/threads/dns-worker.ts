/** The supervisor's data about one DNS worker. */
import type { ThreadRole, UpstreamReports, WorkerMemory } from '../../shared/threads/messages.ts';
import type { DnsThread } from './dns-thread.ts';

/** One worker: its memory and its threads. */
export interface DnsWorker {
  readonly memory: WorkerMemory;
  readonly threads: Map<ThreadRole, DnsThread>;
  upstreams: UpstreamReports;
}

/** Whether all threads of a worker exist and are ready. */
export function isAnswering(worker: DnsWorker): boolean {
  const resolve = worker.threads.get('resolve');
  if (resolve === undefined || resolve.backend === null) return false;
  return resolve.backend === 'dgram' || (worker.threads.get('answer')?.backend ?? null) !== null;
}
