/** Compares what clients got, what Prometheus was told, and what each life of a node has in the log. */
import type { Weir } from '../support/weir/weir-process.ts';
import type { SharedDatabase } from '../support/weir/shared-database.ts';

/** Figures by life of a node. */
export interface Lives<Figure> {
  readonly first: Figure;
  /** Of the second node until it was killed. */
  readonly killed: Figure;
  /** Of the second node since it was started again. */
  readonly second: Figure;
}

/** What clients saw. */
export interface Seen {
  readonly sent: number;
  readonly answered: number;
}

/** A line for each life that has stored another number of queries than it answered. */
export async function compareRuns(
  database: SharedDatabase,
  nodes: { readonly first: Weir; readonly second: Weir },
  { seen, mostLost }: { seen: Lives<Seen>; mostLost: number },
): Promise<string[]> {
  const stored = await storedRuns(database);
  const scraped = { first: await scrape(nodes.first), second: await scrape(nodes.second) };
  process.stdout.write(
    `asked and answered ${JSON.stringify(seen, ['first', 'killed', 'second', 'sent', 'answered'])}, stored ${JSON.stringify(stored)}, Prometheus ${JSON.stringify(scraped)}\n`,
  );
  const wrong: string[] = [];
  for (const node of ['first', 'second'] as const) {
    const { sent, answered } = seen[node];
    // An answer may be lost on its way to the client, and then was given and stored all the same.
    if (stored[node] < answered || stored[node] > sent)
      wrong.push(
        `${node} gave ${String(answered)} to ${String(sent)} answers, and stored ${String(stored[node])}`,
      );
    if (scraped[node] !== stored[node])
      wrong.push(`${node} stored ${String(stored[node])}, and told Prometheus ${String(scraped[node])}`);
  }
  const lost = seen.killed.answered - stored.killed;
  process.stdout.write(`the kill lost ${String(Math.max(0, lost))} queries that had an answer\n`);
  if (lost > mostLost || stored.killed > seen.killed.sent)
    wrong.push(`the kill lost ${String(lost)} queries: expected at most ${String(mostLost)}`);
  return wrong;
}

async function scrape(weir: Weir): Promise<number> {
  return (await (await weir.api()).metrics()).sum('weir_dns_queries_total');
}

async function storedRuns(database: SharedDatabase): Promise<Lives<number>> {
  const rows = await database.rows<{ name: string; count: string }>(
    `SELECT n.name, (SELECT coalesce(sum(upper(r) - lower(r)), 0) FROM unnest(stored) AS r)
       + (SELECT coalesce(sum(repeats), 0) FROM query_blocks WHERE run_id = query_runs.id) AS count
     FROM query_runs JOIN nodes AS n ON n.id = node_id ORDER BY n.name, query_runs.id`,
  );
  const [first, killed, second] = rows.map(({ count }) => Number(count));
  if (rows.length !== 3) throw new Error(`exactness: expected three runs, found ${JSON.stringify(rows)}`);
  return { first: first!, killed: killed!, second: second! };
}
