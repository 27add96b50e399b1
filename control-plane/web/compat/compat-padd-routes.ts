/** Everything that PADD shows, in one response. */
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import { CompatPadd } from '../../../shared/api/compat/compat-node-api.ts';
import type { BlockFilterStats } from '../../../shared/api/stats-api.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import type { QueryLogReader } from '../../query-log/reading/query-log-reader.ts';
import type { ClientNames } from '../../query-log/statistics/client-names.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import { percent } from '../../query-log/statistics/stats-store.ts';
import { type CompatRequest, type CompatRoute, reading } from './compat-route.ts';
import { countsOf, DECISION_KINDS, lastDay } from './day-counts.ts';
import { outcomeOf, sumStatuses } from './query-kinds.ts';
import { hostModel, interfacesNow, processNow, systemNow, temperature } from './machine-state.ts';
import { blockingNow, VERSIONS } from './node-facts.ts';
import { readRecentBlocked, readTopNames } from './top-names.ts';

/** Temperature in degrees above which PADD warns. */
const HOT_LIMIT = 60;

/** The route for PADD. */
export function compatPaddRoutes(context: {
  configuration: { current(): Config };
  clock: Clock;
  policyRows: () => PolicyRows;
  filterStats: () => BlockFilterStats;
  stats: LogQuestions;
  queryLog: Pick<QueryLogReader, 'page'>;
  clients: ClientNames;
  cache: { metrics(): { readonly entries: number; readonly insertions: number; readonly evictions: number } };
  nodeName: string;
  dnsPort: number;
}): CompatRoute[] {
  const { clock, cache, nodeName, filterStats, policyRows, dnsPort, stats, queryLog, clients } = context;
  const readPadd = async ({ params, gone }: CompatRequest): Promise<Untimed<CompatPadd>> => {
    const config = context.configuration.current();
    const { blockingSwitch, forwardZones } = policyRows();
    const { entries, insertions, evictions } = cache.metrics();
    return {
      ...(await figuresOf(stats, queryLog, clients, clock, gone)),
      gravity_size: filterStats().blocked_domains,
      blocking: blockingNow(blockingSwitch, config, clock).blocking,
      cache: { size: entries, inserted: insertions, evicted: evictions },
      system: systemNow(),
      node_name: nodeName,
      host_model: hostModel(),
      ...(params.bool('full', true) ? { iface: interfacesNow(), version: VERSIONS } : {}),
      config: settingsOf(config, dnsPort, forwardZones.length),
      ...processNow(),
      pid: process.pid,
      sensors: { cpu_temp: temperature(), hot_limit: HOT_LIMIT, unit: 'C' },
    };
  };
  return [reading('/padd', CompatPadd, readPadd)];
}

async function figuresOf(
  stats: LogQuestions,
  queryLog: Pick<QueryLogReader, 'page'>,
  clients: ClientNames,
  clock: Clock,
  gone: AbortSignal,
): Promise<
  Pick<
    CompatPadd,
    'recent_blocked' | 'top_domain' | 'top_blocked' | 'top_client' | 'active_clients' | 'queries'
  >
> {
  const span = lastDay(clock);
  const top = { ...span, limit: 1 };
  const summary = await stats.summary(span, gone);
  const log = { stats, queryLog };
  const [allowed] = await readTopNames(log, span, { isBlocked: false, limit: 1 }, gone);
  const [blocked] = await readTopNames(log, span, { isBlocked: true, limit: 1 }, gone);
  const [client] = await stats.topClients(top, gone);
  const { total, blocked: blockedQueries } = outcomeOf(
    sumStatuses(await countsOf(stats, span, DECISION_KINDS, gone)),
  );
  const [recent] = await readRecentBlocked(queryLog, 1, gone);
  return {
    recent_blocked: recent ?? null,
    top_domain: allowed?.domain ?? null,
    top_blocked: blocked?.domain ?? null,
    top_client: client === undefined ? null : (clients.nameAt(client.ip, client.clientId) ?? client.ip),
    active_clients: summary.clients,
    queries: {
      total,
      blocked: blockedQueries,
      percent_blocked: percent(blockedQueries, total),
    },
  };
}

function settingsOf({ dns }: Config, port: number, forwardZones: number): CompatPadd['config'] {
  return {
    dhcp_active: false,
    dhcp_start: '',
    dhcp_end: '',
    dhcp_ipv6: false,
    dns_domain: dns.local_domain,
    dns_port: port,
    dns_num_upstreams: new Set(dns.pools.flatMap(({ servers }) => servers)).size,
    dns_dnssec: dns.dnssec_enabled,
    dns_revServer_active: forwardZones > 0 || dns.local_dns_server !== '',
    privacy_level: 0,
  };
}
