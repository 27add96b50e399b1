/**
 * The part of the compatibility API about this node: whether it blocks, its versions, the machine, and its
 * configuration in numbers.
 */
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import {
  CompatBlocking,
  CompatFtlInfo,
  CompatLoginInfo,
  CompatSystemInfo,
  CompatVersion,
} from '../../../shared/api/compat/compat-node-api.ts';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { BlockFilterStats, StatsSummary } from '../../../shared/api/stats-api.ts';
import type { Health } from '../../../shared/api/system-api.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import {
  countRules,
  MANAGED_DOMAINS,
  REGEX_FILTERS,
  type RuleTableName,
} from '../../filtering/rules/rule-store.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import { type CompatRequest, type CompatRoute, reading } from './compat-route.ts';
import { lastDay } from './day-counts.ts';
import { processNow, systemNow } from './machine-state.ts';
import { blockingNow, VERSIONS } from './node-facts.ts';

interface CacheCounters {
  metrics(): { readonly insertions: number; readonly evictions: number };
}

export function compatNodeRoutes(context: {
  configuration: { current(): Config };
  clock: Clock;
  startedAtMs: number;
  policyRows: () => PolicyRows;
  filterStats: () => BlockFilterStats;
  health: { checks(): Health['checks'] };
  rate: { recentQueries(unit: 'second' | 'minute'): number };
  clients: { all(): readonly unknown[] };
  stats: Pick<LogQuestions, 'summary'>;
  cache: CacheCounters;
  database: Queryable;
}): CompatRoute[] {
  const {
    configuration,
    clock,
    startedAtMs,
    policyRows,
    filterStats,
    health,
    rate,
    clients,
    stats,
    database,
  } = context;
  const readFtlInfo = async ({ gone }: CompatRequest): Promise<Untimed<CompatFtlInfo>> => {
    const summary = await stats.summary(lastDay(clock), gone);
    return {
      ftl: {
        database: { gravity: filterStats().blocked_domains, ...(await numbersOf(policyRows(), database)) },
        privacy_level: 0,
        query_frequency: rate.recentQueries('minute') / 60,
        clients: { total: Math.max(summary.clients, clients.all().length), active: summary.clients },
        pid: process.pid,
        uptime: Math.floor(clock.monotonicMs() - startedAtMs),
        ...processNow(),
        allow_destructive: false,
        dnsmasq: dnsmasqOf(context.cache, summary),
      },
    };
  };
  return [
    reading('/dns/blocking', CompatBlocking, () =>
      blockingNow(policyRows().blockingSwitch, configuration.current(), clock),
    ),
    reading('/info/version', CompatVersion, () => ({ version: VERSIONS })),
    reading('/info/login', CompatLoginInfo, () => readLoginInfo(health), 'public'),
    reading('/info/system', CompatSystemInfo, () => ({ system: systemNow() })),
    reading('/info/ftl', CompatFtlInfo, readFtlInfo),
  ];
}

/** The web server is not encrypted, so no HTTPS port is reported. */
function readLoginInfo(health: { checks(): Health['checks'] }): Untimed<CompatLoginInfo> {
  return { dns: health.checks().dns.status !== 'down', https_port: 0 };
}

async function numbersOf(
  rows: PolicyRows,
  database: Queryable,
): Promise<Omit<CompatFtlInfo['ftl']['database'], 'gravity'>> {
  const byAction = async (of: RuleTableName): Promise<CompatFtlInfo['ftl']['database']['domains']> => {
    const { allow, deny } = await countRules(database, of);
    return { allowed: allow, denied: deny };
  };
  return {
    groups: rows.groups.length,
    lists: rows.sources.length,
    clients: rows.clients.length + rows.macClients.length,
    domains: await byAction(MANAGED_DOMAINS),
    regex: await byAction(REGEX_FILTERS),
  };
}

/** Counters that this server also has; the counters of a DHCP server, which Weir does not have, are zero. */
function dnsmasqOf(
  cache: CacheCounters,
  summary: Pick<StatsSummary, 'queries_by_status'>,
): Record<string, number> {
  const { insertions, evictions } = cache.metrics();
  const { ALLOWED = 0, LOCAL = 0, STALE = 0, TIMEOUT = 0 } = summary.queries_by_status;
  return {
    ...Object.fromEntries(UNUSED.map((name) => [name, 0])),
    dns_cache_inserted: insertions,
    dns_cache_live_freed: evictions,
    dns_queries_forwarded: ALLOWED,
    dns_local_answered: LOCAL,
    dns_stale_answered: STALE,
    dns_unanswered: TIMEOUT,
  };
}

const UNUSED = [
  'dns_auth_answered',
  'dnssec_max_crypto_use',
  'dnssec_max_sig_fail',
  'dnssec_max_work',
  'bootp',
  'pxe',
  'dhcp_ack',
  'dhcp_decline',
  'dhcp_discover',
  'dhcp_inform',
  'dhcp_nak',
  'dhcp_offer',
  'dhcp_release',
  'dhcp_request',
  'noanswer',
  'leases_allocated_4',
  'leases_pruned_4',
  'leases_allocated_6',
  'leases_pruned_6',
  'tcp_connections',
] as const;
