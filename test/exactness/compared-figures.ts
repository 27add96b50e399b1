/** Reads the counts of queries from every place, through each node, and reports places that differ. */
import type { ClientTimeline, StatsSummary, Timeline } from '../../shared/api/stats-api.ts';
import { type ApiClient, PASSWORD } from '../support/weir/api-client.ts';
import { httpCall } from '../support/weir/http-call.ts';
import type { Weir } from '../support/weir/weir-process.ts';
import type { SharedDatabase } from '../support/weir/shared-database.ts';

/** A figure as read from several places. */
interface Figure {
  readonly name: string;
  readonly reportedBy: Readonly<Record<string, number>>;
}

const PERIOD = '24h';

/**
 * A line for each place that reports a different number of queries or of blocked queries; `compat` is a node with the
 * compatibility API.
 */
export async function compareFigures(
  nodes: Readonly<Record<string, Weir>>,
  compat: Weir,
  database: Pick<SharedDatabase, 'rows'>,
): Promise<string[]> {
  const [queries, blockedQueries] = await gatherFigures(nodes, database);
  const reported = await reportCompat(compat);
  const figures: Figure[] = [
    { ...queries!, reportedBy: { ...queries!.reportedBy, ...reported.total } },
    { ...blockedQueries!, reportedBy: { ...blockedQueries!.reportedBy, ...reported.blocked } },
  ];
  for (const { name, reportedBy } of figures)
    process.stdout.write(`${name}: ${JSON.stringify(reportedBy, undefined, 1)}\n`);
  return figures.flatMap(differences);
}

async function gatherFigures(
  nodes: Readonly<Record<string, Weir>>,
  database: Pick<SharedDatabase, 'rows'>,
): Promise<Figure[]> {
  const totals: Record<string, number> = {};
  const blocked: Record<string, number> = {};
  for (const [node, weir] of Object.entries(nodes)) {
    const reported = await reportOf(await weir.api(), Object.keys(nodes));
    for (const [place, count] of Object.entries(reported.total)) totals[`${place} of ${node}`] = count;
    for (const [place, count] of Object.entries(reported.blocked)) blocked[`${place} of ${node}`] = count;
  }
  for (const view of ['minutes', 'quarters', 'days']) {
    const [sums] = await database.rows<{ queries: string; blocked: string }>(
      `SELECT sum(queries) AS queries, sum(blocked) AS blocked FROM weir_stats_${view}`,
    );
    totals[`weir_stats_${view}`] = Number(sums!.queries);
    blocked[`weir_stats_${view}`] = Number(sums!.blocked);
  }
  for (const kind of ['status', 'type', 'rcode', 'protocol', 'group', 'latency']) {
    const [found] = await database.rows<{ count: string }>(
      `SELECT sum(count) AS count FROM weir_stats_values WHERE span = 'minute' AND kind = '${kind}'`,
    );
    totals[`weir_stats_values by ${kind}`] = Number(found!.count);
  }
  const [runs] = await database.rows<{ count: string }>(
    `SELECT sum(row_count + repeats) AS count FROM query_blocks WHERE used_by <> 'l'`,
  );
  totals['blocks that statistics have, with repeats'] = Number(runs!.count);
  return [
    { name: 'queries', reportedBy: totals },
    { name: 'blocked queries', reportedBy: blocked },
  ];
}

interface ReportedSums {
  readonly total: Readonly<Record<string, number>>;
  readonly blocked: Readonly<Record<string, number>>;
}

async function reportOf(api: ApiClient, nodes: readonly string[]): Promise<ReportedSums> {
  const stats = await api.expect<StatsSummary>(200, 'GET', `/stats?period=${PERIOD}`);
  const timelines = await Promise.all(
    ['minute', '15min', 'hour'].map(async (granularity): Promise<[string, Timeline['buckets']]> => [
      granularity,
      (
        await api.expect<Timeline>(
          200,
          'GET',
          `/queries/timeline?period=${PERIOD}&granularity=${granularity}`,
        )
      ).buckets,
    ]),
  );
  const byClient = await api.expect<ClientTimeline>(200, 'GET', `/stats/client_timeline?period=${PERIOD}`);
  const clients = await api.expect<{ count: number; blocked: number }[]>(
    200,
    'GET',
    `/stats/top_clients?limit=1000&period=${PERIOD}`,
  );
  const byNode = await Promise.all(
    nodes.map((node) => api.expect<StatsSummary>(200, 'GET', `/stats?period=${PERIOD}&node=${node}`)),
  );
  const logged = (rows: number): number => rows + stats.queries_not_logged - stats.queries_not_counted;
  const blockedRows = await api.queryCount('status=BLOCKED_LIST');
  const exported = await api.exportedQueries('');
  const exportedBlocked = await api.exportedQueries('status=BLOCKED_LIST');
  return {
    total: {
      'log, with what it leaves out': logged(await api.queryCount()),
      'export, with what the log leaves out': logged(exported),
      'log by domain, with what it leaves out': logged(await api.queryCount('domain=example.com')),
      stats: stats.queries_total,
      'stats by type': sum(stats.queries_by_type),
      'stats by status': sum(stats.queries_by_status),
      'stats by rcode': sum(stats.queries_by_rcode),
      'stats by protocol': sum(stats.queries_by_protocol),
      'stats by node': byNode.reduce((total, { queries_total }) => total + queries_total, 0),
      'timeline of clients': byClient.buckets.reduce(
        (total, { counts, others }) => counts.reduce((all, count) => all + count, total + others),
        0,
      ),
      'top clients': clients.reduce((total, { count }) => total + count, 0),
      ...Object.fromEntries(
        timelines.map(([granularity, buckets]) => [
          `timeline by ${granularity}`,
          buckets.reduce((total, bucket) => total + bucket.total, 0),
        ]),
      ),
    },
    blocked: {
      log: blockedRows,
      export: exportedBlocked,
      stats: stats.queries_blocked,
      'stats by source': sum(stats.source_stats),
      'stats by node': byNode.reduce((total, { queries_blocked }) => total + queries_blocked, 0),
      'top clients': clients.reduce((total, client) => total + client.blocked, 0),
      ...Object.fromEntries(
        timelines.map(([granularity, buckets]) => [
          `timeline by ${granularity}`,
          buckets.reduce((total, bucket) => total + bucket.blocked, 0),
        ]),
      ),
    },
  };
}

/** Figures of the compatibility API for the last 24 hours. */
async function reportCompat({ webPort }: Weir): Promise<ReportedSums> {
  const base = `http://127.0.0.1:${String(webPort)}/api`;
  const login = await httpCall('POST', `${base}/auth`, { password: PASSWORD });
  const { session } = JSON.parse(login.text) as { session: { sid: string } };
  const get = async <Body>(path: string): Promise<Body> => {
    const { status, text } = await httpCall(
      'GET',
      `${base}${path}${path.includes('?') ? '&' : '?'}sid=${encodeURIComponent(session.sid)}`,
    );
    if (status !== 200) throw new Error(`GET ${path}: status ${String(status)}: ${text}`);
    return JSON.parse(text) as Body;
  };
  const { queries } = await get<{
    queries: { total: number; blocked: number; types: Counts; status: Counts; replies: Counts };
  }>('/stats/summary');
  const { history } = await get<{ history: { total: number; blocked: number }[] }>('/history');
  const { types } = await get<{ types: Counts }>('/stats/query_types');
  const { clients } = await get<{ clients: { count: number }[] }>('/stats/top_clients?count=1000');
  return {
    total: {
      'compat summary': queries.total,
      'compat summary by type': sum(queries.types),
      'compat summary by status': sum(queries.status),
      'compat summary by reply': sum(queries.replies),
      'compat history': history.reduce((total, slot) => total + slot.total, 0),
      'compat query types': sum(types),
      'compat top clients': clients.reduce((total, { count }) => total + count, 0),
    },
    blocked: {
      'compat summary': queries.blocked,
      'compat history': history.reduce((total, slot) => total + slot.blocked, 0),
    },
  };
}

type Counts = Readonly<Record<string, number>>;

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Places that report a different number than the first place. */
export function differences({ name, reportedBy }: Figure): string[] {
  const [first, ...others] = Object.entries(reportedBy);
  return others
    .filter(([, count]) => count !== first![1])
    .map(
      ([place, count]) => `${name}: ${first![0]} says ${String(first![1])}, ${place} says ${String(count)}`,
    );
}
