/** For each run of a node, compares the replies that clients received, the metrics for Prometheus, and the log. */
import type { SharedDatabase } from '../support/weir/shared-database.ts';
import type { Weir } from '../support/weir/weir-process.ts';

/** Queries that the clients sent, and replies that they received. */
export interface Seen {
  readonly sent: number;
  readonly answered: number;
}

/** A run of a node, from its start to its end. */
export interface Life {
  readonly node: string;
  readonly seen: Seen;
  /** The running process; null = it was killed. */
  readonly weir: Weir | null;
}

/** Rows that may be missing. */
export interface Allowed {
  /** Queries that a node had answered but not stored when it was killed. */
  readonly maxLost: number;
  /** Whether queries to a node that was not killed may have been lost in transit, as in a flood. */
  readonly lossy?: boolean;
}

/** A line for each run, in order of start, that has stored a different number of queries than it answered. */
export async function compareRuns(
  database: Pick<SharedDatabase, 'rows'>,
  lives: readonly Life[],
  allowed: Allowed,
): Promise<string[]> {
  const runs = await storedRuns(database);
  const wrong: string[] = [];
  for (const life of lives) {
    const stored = runs.get(life.node)?.shift();
    if (stored === undefined) wrong.push(`${life.node} has a run that is missing in the log`);
    else wrong.push(...(await compareLife(life, stored, allowed)));
  }
  for (const [node, more] of runs)
    if (more.length > 0) wrong.push(`${node} has ${String(more.length)} runs too many in the log`);
  return wrong;
}

async function compareLife(
  { node, seen, weir }: Life,
  kept: number,
  { maxLost, lossy = false }: Allowed,
): Promise<string[]> {
  const { sent, answered } = seen;
  const metrics = weir === null ? null : await (await weir.api()).metrics();
  // Of queries that are excluded from both log and statistics, only the count is stored, and for a killed process not
  // even the count.
  const leftOut = metrics?.sum('weir_dns_excluded_total', { from: 'both' }) ?? 0;
  const stored = kept + leftOut;
  const reported = `${node} was asked ${String(sent)}, answered ${String(answered)}, stored ${String(kept)}, left out ${String(leftOut)}`;
  if (metrics === null) {
    const lost = answered - stored;
    process.stdout.write(
      `${reported}; the kill lost ${String(Math.max(0, lost))} queries that had an answer\n`,
    );
    return lost > maxLost || stored > sent
      ? [`the kill of ${node} lost ${String(lost)} queries: expected at most ${String(maxLost)}`]
      : [];
  }
  const scraped = metrics.sum('weir_dns_queries_total');
  process.stdout.write(`${reported}, Prometheus counted ${String(scraped)}\n`);
  // An answer may be lost in transit or reach the client too late; it was still sent and stored.
  const isExact = (lossy ? stored >= answered && stored <= sent : stored === sent) && scraped === stored;
  return isExact ? [] : [`${reported}, Prometheus counted ${String(scraped)}`];
}

/** Queries that each run of the nodes has stored, for the log, for statistics, or for both. */
async function storedRuns(database: Pick<SharedDatabase, 'rows'>): Promise<Map<string, number[]>> {
  const rows = await database.rows<{ name: string; count: string }>(
    `SELECT n.name, sum((SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest(run.stored) AS r)
       + (SELECT coalesce(sum(repeats), 0) FROM query_blocks WHERE run_id = run.id)) AS count
     FROM query_runs AS life JOIN query_runs AS run ON life.key IN (run.key, run.part_of)
       JOIN nodes AS n ON n.id = life.node_id
     WHERE life.part_of IS NULL GROUP BY n.name, life.id ORDER BY life.id`,
  );
  const runs = new Map<string, number[]>();
  for (const { name, count } of rows) runs.set(name, [...(runs.get(name) ?? []), Number(count)]);
  return runs;
}
