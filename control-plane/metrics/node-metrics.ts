/** All metrics of a node, collected from its parts. */
import { join } from 'node:path';
import type { CacheContents } from '../resolving/cache/cache-contents.ts';
import type { ClockFloor } from '../host/clock/clock-floor.ts';
import type { NodeClaim } from '../storage/cluster/node-claim.ts';
import type { Database } from '../storage/db/database.ts';
import type { UsedCertificate } from './checks/certificate-check.ts';
import type { DiskSpace } from './checks/disk-space.ts';
import type { Configuration } from '../policy/settings/configuration.ts';
import type { ListSources } from '../lists/sources/list-sources.ts';
import { newestRevisionId } from '../policy/change/revision-store.ts';
import type { StreamCounters } from '../query-log/dnstap/frame-stream.ts';
import type { LogWriterCounters } from '../query-log/store/log-tally.ts';
import type { SnapshotPublisher } from '../policy/snapshot/publish/publisher.ts';
import { upstreamDetails, upstreamLatencies } from '../resolving/upstreams/upstream-health.ts';
import type { WorkerSupervisor } from '../threads/supervisor.ts';
import { cacheFamilies } from './cache-families.ts';
import { databaseRead } from './database-read.ts';
import { dnsFamilies } from './dns-families.ts';
import { folderBytes } from '../host/files/folder-bytes.ts';
import { healthFamilies } from './health-families.ts';
import { listFamilies } from './list-families.ts';
import { nodeFamilies } from './node-families.ts';
import { processFamilies } from './process-families.ts';
import type { PrometheusText } from './prometheus-text.ts';
import { queryLogFamilies } from './query-log-families.ts';
import { streamFamilies } from './stream-families.ts';
import { threadCounters } from './thread-counters.ts';
import { upstreamFamilies } from './upstream-families.ts';

/** The parts that are measured. */
export interface NodeMetricsParts {
  readonly version: string;
  readonly dataDir: string;
  readonly supervisor: Pick<WorkerSupervisor, 'connections' | 'memories' | 'state' | 'upstreams'>;
  readonly publisher: Pick<SnapshotPublisher, 'current' | 'threadsBehind'>;
  readonly database: Database;
  readonly sources: Pick<ListSources, 'list'>;
  readonly cache: Pick<CacheContents, 'metrics'>;
  /** The memory of the answer cache. */
  readonly cacheMemory: { readonly byteLength: number };
  readonly clockFloor: Pick<ClockFloor, 'isWrong'>;
  readonly claim: Pick<NodeClaim, 'aheadMs' | 'otherVersions'>;
  readonly configuration: Pick<Configuration, 'reloadFault'>;
  readonly certificates: () => readonly UsedCertificate[];
  readonly disk: Pick<DiskSpace, 'now'>;
  readonly writer: { counters(): LogWriterCounters; readonly spoolLimitBytes: number };
  readonly dayExport: { failures(): number };
  /** Null = no dnstap stream. */
  readonly dnstap: { counters(): StreamCounters } | null;
}

/**
 * The metrics of a node. Their values are read when they are scraped; the formatting code is loaded at the first
 * scrape.
 */
export function nodeMetrics(parts: NodeMetricsParts): () => Promise<PrometheusText> {
  const { supervisor, publisher, database, sources } = parts;
  const threads = threadCounters(supervisor.memories());
  const fetched = databaseRead(database, async () => [
    ...(await sources.list('block')).map((list) => ({ ...list, kind: 'block' as const })),
    ...(await sources.list('allow')).map((list) => ({ ...list, kind: 'allow' as const })),
  ]);
  const families = [
    ...nodeFamilies({
      version: parts.version,
      workers: () => supervisor.state(),
      snapshotVersion: () => publisher.current().snapshot.version,
      threadsBehind: () => publisher.threadsBehind(),
      revision: databaseRead(database, () => newestRevisionId(database)),
      isDatabaseUp: () => database.status().state === 'up',
      isClockWrong: () => parts.clockFloor.isWrong,
    }),
    ...healthFamilies(parts),
    ...dnsFamilies(threads),
    ...streamFamilies(threads, supervisor.connections()),
    ...cacheFamilies(() => parts.cache.metrics(), parts.cacheMemory.byteLength),
    ...upstreamFamilies({
      details: () => upstreamDetails(supervisor.upstreams()),
      latencies: () => upstreamLatencies(supervisor.upstreams()),
    }),
    ...listFamilies({ published: () => publisher.current(), fetched }),
    ...queryLogFamilies(threads, {
      counters: () => parts.writer.counters(),
      exportFailures: () => parts.dayExport.failures(),
      dnstap: () => parts.dnstap?.counters(),
      spoolLimitBytes: parts.writer.spoolLimitBytes,
      spoolBytes: () => folderBytes(join(parts.dataDir, 'spool')),
    }),
    ...processFamilies(threads),
  ];
  let shown: Promise<PrometheusText> | undefined;
  return () =>
    (shown ??= import('./prometheus-text.ts').then(({ PrometheusText }) => new PrometheusText(families)));
}
