// `npm run bench -- log`: cost of a query in the stored log, and time of searches. A day of generated queries is stored
// in a separate PostgreSQL; then each search runs several times through the search thread, as the API does it. The
// first run of a search can use only data that other searches have cached. CPU time is measured for this process,
// without PostgreSQL.
import { parseArgs } from 'node:util';
import { asOwner } from '../../support/parts/as-owner.ts';
import {
  type LogQuestions,
  logQuestions,
} from '../../../control-plane/query-log/log-search/log-questions.ts';
import { LogScans } from '../../../control-plane/query-log/log-search/log-scans.ts';
import type { QueryLogFilter } from '../../../control-plane/query-log/reading/query-log-reader.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { startTestDatabase } from '../../support/parts/test-database.ts';
import { ROOT } from '../bench.ts';
import { addNameLists, DAY_MS, HOUR_MS, makeRows, storeMadeUpLog } from './made-up-log.ts';
import { gatherMaterial } from '../material/material.ts';

const HELP = `npm run bench -- log [options]

  --queries N      queries of the day (2000000)
  --nodes N        nodes that logged them (1)
  --block-rows N   queries of a block (60000, as maintenance leaves them in a busy log)
  --runs N         number of times that each search runs (7)
  --seed N         seed of everything generated (20260822)
`;
/**
 * The period starts in the middle of an hour, because 24 hours rarely match a calendar day, and two days ago, so that
 * all its hours are complete.
 */
const START_MS = Math.floor(Date.now() / DAY_MS - 2) * DAY_MS + 7 * HOUR_MS + 1_380_000;
const ever = new AbortController().signal;

interface Options {
  readonly queries: number;
  readonly nodes: number;
  readonly blockRows: number;
  readonly runs: number;
  readonly seed: number;
}

function readOptions(): Options | null {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    options: {
      queries: text('2000000'),
      nodes: text('1'),
      'block-rows': text('60000'),
      runs: text('7'),
      seed: text('20260822'),
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const { queries, nodes, runs, seed, 'block-rows': blockRows } = values;
  return {
    queries: Number(queries),
    nodes: Number(nodes),
    blockRows: Number(blockRows),
    runs: Number(runs),
    seed: Number(seed),
  };
}

/** A search, and the part of its answer to show. */
type Ask = () => Promise<unknown>;

function questionsOf(log: LogQuestions): [name: string, ask: Ask][] {
  const day = { fromMs: START_MS, toMs: START_MS + DAY_MS };
  const hour = { fromMs: day.toMs - HOUR_MS, toMs: day.toMs };
  const last = (days: number) => ({ fromMs: day.toMs - days * DAY_MS, toMs: day.toMs, limit: 10 });
  const page = (filter: Partial<QueryLogFilter>) => async (): Promise<number> =>
    (await log.page({ limit: 100, offset: 0, from: null, to: null, ...filter }, ever)).total;
  const timeline = { ...day, granularity: '15min', timezone: 'UTC' } as const;
  const tops = { ...day, limit: 10 };
  return [
    ['newest page', page({})],
    ['newest page of an hour', page({ from: new Date(hour.fromMs) })],
    ['search apple', page({ domain: 'apple' })],
    ['search com', page({ domain: 'com' })],
    ['search for nothing', page({ domain: 'qqqqqq' })],
    ['client', page({ client: '10.0.0.7' })],
    ['client and status', page({ client: '10.0.0.7', status: 'BLOCKED_LIST' })],
    ['client and type', page({ client: '10.0.0.7', type: 'AAAA' })],
    ['name and status', page({ domain: 'apple', status: 'BLOCKED_LIST' })],
    ['name and client', page({ domain: 'apple', client: '10.0.0.7' })],
    ['name, client and type', page({ domain: 'apple', client: '10.0.0.7', type: 'AAAA' })],
    ['summary of an hour', async () => (await log.summary(hour, ever)).queries_total],
    ['summary of the day', async () => (await log.summary(day, ever)).queries_total],
    ['use of the cache', async () => (await log.cacheUse(day, ever)).hits],
    ['timeline', async () => (await log.timeline(timeline, ever)).buckets.length],
    ['dashboard', async () => (await log.dashboard(timeline, ever)).summary.unique_domains],
    ['most asked names', async () => (await log.topDomains({ ...tops, which: 'allowed' }, ever)).length],
    [
      'names blocked in 30 days',
      async () => (await log.topDomains({ ...last(30), which: 'blocked' }, ever)).length,
    ],
    [
      'names blocked in 400 days',
      async () => (await log.topDomains({ ...last(400), which: 'blocked' }, ever)).length,
    ],
    ['summary of 400 days', async () => (await log.summary(last(400), ever)).queries_total],
    [
      'names blocked for a client',
      async () => (await log.topDomains({ ...tops, client: '10.0.0.7', which: 'blocked' }, ever)).length,
    ],
    ['busiest clients', async () => (await log.topClients(tops, ever)).length],
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Runs a search several times and prints a line. */
async function measure(name: string, ask: Ask, runs: number): Promise<void> {
  const wall: number[] = [];
  const cpu: number[] = [];
  let answer: unknown;
  for (let run = 0; run < runs; run++) {
    const [startedMs, used] = [performance.now(), process.cpuUsage()];
    answer = await ask();
    wall.push(performance.now() - startedMs);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1000);
  }
  const cell = (value: number): string => value.toFixed(1).padStart(9);
  const figures = [wall[0]!, median(wall), Math.min(...wall), cpu[0]!, median(cpu)];
  console.log(`${name.padEnd(28)}${figures.map(cell).join('')}  ${String(answer)}`);
}

async function run(options: Options): Promise<void> {
  const { source, stream } = gatherMaterial(ROOT, 1, options.seed);
  const made = { ...options, stream, startMs: START_MS, days: 1 };
  const madeRows = makeRows(made);
  const own = await startTestDatabase();
  const { database } = own;
  const scans = new LogScans({ database, logger: new MemoryLogger() });
  const log = logQuestions({ scans, database, flush: () => Promise.resolve(), hostnameOf: () => null });
  try {
    const blocks = await storeMadeUpLog(database, madeRows, made);
    await asOwner(database, 'ANALYZE query_blocks, query_counts');
    const { rows } = await database.query<{ bytes: number; counts: number }>(
      `SELECT sum(pg_total_relation_size(inhrelid))::bigint AS bytes, pg_total_relation_size('query_counts') AS counts
       FROM pg_inherits WHERE inhparent = 'query_blocks'::regclass`,
    );
    const { bytes, counts } = rows[0]!;
    console.log(`${options.queries} queries of ${source} in ${blocks} blocks`);
    console.log(
      `${(bytes / options.queries).toFixed(1)} bytes per query, and ${(counts / 1024).toFixed(0)} KiB of counts`,
    );
    const lists = await addNameLists(database, made);
    console.log(`${lists} lists of names and clients\n`);
    console.log(`${'milliseconds'.padEnd(28)}    first   median      min  1st CPU      CPU  total, or lines`);
    for (const [name, ask] of questionsOf(log)) await measure(name, ask, options.runs);
  } finally {
    await scans.close();
    await own.stop();
  }
}

const options = readOptions();
if (options === null) console.log(HELP);
else await run(options);
