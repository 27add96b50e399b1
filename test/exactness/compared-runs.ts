/** Compares replies to clients, metrics for Prometheus, and the log of each run of a node. */
import type { SharedDatabase } from '../support/weir/shared-database.ts';
import type { Weir } from '../support/weir/weir-process.ts';

/** Queries and replies of clients. */
export interface Seen {
  readonly sent: number;
  readonly answered: number;
}

/** One life of a node. */
export interface Life {
  readonly node: string;
  readonly seen: Seen;
  /** The running process; null = it was killed. */
  readonly weir: Weir | null;
}

/** Rows that may be missing. */
export interface Allowed {
  /** Queries that a node had answered and had not stored when it was killed. */
  readonly mostLost: number;
  /** Whether queries to a node that was not killed may have been lost on their way, as in a flood. */
  readonly lossy?: boolean;
}

/** A line for each life, in the order of their starts, that has stored another number of queries than it answered. */
export async function compareRuns(
  database: Pick<SharedDatabase, 'rows'>,
  lives: readonly Life[],
  allowed: Allowed,
): Promise<string[]> {
  const runs = await storedRuns(database);
  const wrong: string[] = [];
  for (const life of lives) {
    const stored = runs.get(life.node)?.shift();
    if (stored === undefined) wrong.push(`${life.node} has a life without a run in the log`);
    else wrong.push(...(await compareLife(life, stored, allowed)));
  }
  for (const [node, more] of runs)
    if (more.length > 0) wrong.push(`${node} has ${String(more.length)} runs too many in the log`);
  return wrong;
}

async function compareLife(
  { node, seen, weir }: Life,
  kept: number,
  { mostLost, lossy = false }: Allowed,
): Promise<string[]> {
  const { sent, answered } = seen;
  const metrics = weir === null ? null : await (await weir.api()).metrics();
  // Nothing but this count is left of them; of a process that was killed, nothing.
  const leftOut = metrics?.sum('weir_dns_excluded_total', { from: 'both' }) ?? 0;
  const stored = kept + leftOut;
  const told = `${node} was asked ${String(sent)}, answered ${String(answered)}, stored ${String(kept)}, left out ${String(leftOut)}`;
  if (metrics === null) {
    const lost = answered - stored;
    process.stdout.write(`${told}; the kill lost ${String(Math.max(0, lost))} queries that had an answer\n`);
    return lost > mostLost || stored > sent
      ? [`the kill of ${node} lost ${String(lost)} queries: expected at most ${String(mostLost)}`]
      : [];
  }
  const scraped = metrics.sum('weir_dns_queries_total');
  process.stdout.write(`${told}, Prometheus counted ${String(scraped)}\n`);
  // An answer may be lost on its way to the client, or come too late for it, and then was given and stored all the same.
  const isExact = (lossy ? stored >= answered && stored <= sent : stored === sent) && scraped === stored;
  return isExact ? [] : [`${told}, Prometheus counted ${String(scraped)}`];
}

/** Queries that each life of the nodes has stored, for the log, for statistics, or for both. */
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
