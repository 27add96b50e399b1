/**
 * Everything the API is made of besides itself: what `start.ts` hands to `createApp`. Ports are as narrow
 * as the routes need them; their real parts live in their own folders.
 */
import type { Config } from '../../config/schema.ts';
import type {
  CacheEntryFilter,
  CacheEntryPage,
  CacheEntryQuery,
  CacheMetrics,
} from '../../shared/api/cache-api.ts';
import type { CompiledListQuery, CompiledRulePage } from '../../shared/api/policy/compiled-lists-api.ts';
import type { CatalogService } from '../../shared/api/policy/services-api.ts';
import type { ExplainAnswer, ExplainQuery } from '../../shared/api/explain-api.ts';
import type { Health } from '../../shared/api/system-api.ts';
import type { BlockFilterStats } from '../../shared/api/stats-api.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { UpstreamReports } from '../../shared/threads/messages.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import type { ClientDirectory } from '../clients/client-directory.ts';
import type { Database } from '../db/database.ts';
import type { SourceLife } from '../lists/sources/source-life-port.ts';
import type { SourceKind } from '../../shared/policy/source-kind.ts';
import type { QueryLogReader } from '../query-log/reading/query-log-port.ts';
import type { BlockingSwitch } from '../policy/rows.ts';
import type { PolicyChanges } from '../policy/change.ts';
import type { LivePolicy } from '../policy/live.ts';
import type { StatsReader } from '../stats/stats-port.ts';

/** Parts of the running node that the routes speak to. */
export interface ApiContext {
  readonly version: string;
  /** Name of this node, see `server.node_name`. */
  readonly nodeName: string;
  /** `clock.monotonicMs()` when the node started. */
  readonly startedAtMs: number;
  /** The configuration in force; asked for each request, because a reload replaces it. */
  config(): Config;
  /** The port that DNS is answered on; not that of the configuration where that one could not be had. */
  dnsPort(): number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly database: Database;
  readonly auth: Authenticator;
  /** Life of the list sources: a change is stored and in force when its promise resolves. */
  readonly sources: SourceLife;
  readonly policy: PolicyChanges;
  /** What was said through the API about blocking as a whole, as it is in force. */
  blockingSwitch(): BlockingSwitch | null;
  readonly clients: ClientDirectory;
  readonly localNames: LocalNamesPort;
  readonly queryLog: QueryLogReader;
  readonly stats: StatsReader;
  readonly counters: QueryCounters;
  readonly filters: FilterPort;
  readonly compiledLists: CompiledListsPort;
  readonly catalog: CatalogPort;
  readonly explainer: ExplainPort;
  readonly health: HealthPort;
  readonly upstreams: UpstreamPort;
  readonly cache: CachePort;
}

/** Local names that are in no database. */
export interface LocalNamesPort {
  /** Where names of one label go, '' = nowhere; see `dns.local_domain`. */
  localDomain(): string;
  live(): Pick<LivePolicy, 'configRecords' | 'leases'>;
}

/** In-memory counters of this node. */
export interface QueryCounters {
  /** Queries of the last whole second or of the last sixty seconds. */
  recentQueries(unit: 'second' | 'minute'): number;
}

/** What is known of the compiled filter in force. */
export interface FilterPort {
  stats(): BlockFilterStats;
}

/** The rules in force, for people to look through. */
export interface CompiledListsPort {
  page(kind: SourceKind, query: CompiledListQuery): Promise<CompiledRulePage>;
}

/** What a client would be answered, and why. */
export interface ExplainPort {
  explain(query: ExplainQuery): Promise<ExplainAnswer>;
}

/** The built-in services. */
export interface CatalogPort {
  all(): CatalogService[];
  get(id: string): CatalogService | undefined;
}

/** The upstream servers as each worker sees them, one entry per worker, from memory. */
export interface UpstreamPort {
  reports(): readonly UpstreamReports[];
}

/** The answer cache of this node. */
export interface CachePort {
  metrics(): CacheMetrics;
  page(query: CacheEntryQuery, clock: Clock): CacheEntryPage;
  /** Resolves with how many entries are gone for every worker. */
  drop(filter: CacheEntryFilter): Promise<number>;
}

/** State of the node's parts, from memory: asking must never wait for anything. */
export interface HealthPort {
  checks(): Health['checks'];
}
