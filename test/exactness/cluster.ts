/**
 * `npm run exactness -- cluster`: three nodes on a PostgreSQL with a synchronous standby answer a known mix, with a
 * policy change each second. One node is killed and restarted, then the primary is killed and its standby is promoted.
 * Afterwards, every place that counts queries must report exactly the same numbers, each acknowledged change must
 * exist, and all nodes must have the same revision. Only queries that waited at the killed node may be unanswered.
 * Needs a C compiler.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ClusterNode } from '../../shared/api/nodes-api.ts';
import type { ManagedDomainPage } from '../../shared/api/policy/rules-api.ts';
import { batchLoad } from '../bench/load/batch-load.ts';
import type { LoadGenerator, LoadJob, LoadResult } from '../bench/load/load.ts';
import { buildNativeTools } from '../bench/native-tools.ts';
import { startEchoingUpstream } from '../support/dns/echoing-upstream.ts';
import { STARTED_ONCE } from '../support/parts/made-cluster.ts';
import { until } from '../support/parts/until.ts';
import { type ReplicatedDatabase, startReplicatedDatabase } from '../support/weir/replicated-database.ts';
import { makeTempDir, type TempDir } from '../support/weir/data-dir.ts';
import type { Weir } from '../support/weir/weir-process.ts';
import { compareFigures } from './compared-figures.ts';
import { compareRuns, type Life } from './compared-runs.ts';
import { subscribe, untilStored, writeQuestions } from './known-mix.ts';
import { Nodes } from './nodes.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const HELP = `npm run exactness -- cluster [options]

  --secs N   of load (600)
  --rate N   queries a second of all three nodes together (60000)
`;
const CLIENTS = 40;
/** Times of the two kills, as parts of the run time: of a node, and of the primary of the database. */
const KILL_AT = 0.35;
const FAIL_OVER_AT = 0.65;
/** A killed node loses at most the queries collected in this time, milliseconds. */
const UNSTORED_MS = 2000;
const CHANGE_MS = 1000;
const POLL_MS = 200;
const MAX_DOMAINS = 1000;

interface Run {
  readonly secs: number;
  /** Query rate of each node. */
  readonly rateQps: number;
}

const { values } = parseArgs({
  options: {
    secs: { type: 'string', default: '600' },
    rate: { type: 'string', default: '60000' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
} else {
  const tools = buildNativeTools(ROOT);
  if (tools === undefined) throw new Error('cluster: the load generator needs a C compiler');
  const tempDir = makeTempDir();
  try {
    process.exitCode = await prove(batchLoad(tools.load, [0, 1], 0), tempDir, {
      secs: Number(values.secs),
      rateQps: Math.ceil(Number(values.rate) / 3),
    });
  } finally {
    tempDir.remove();
  }
}

async function prove(load: LoadGenerator, tempDir: TempDir, run: Run): Promise<number> {
  const { secs, rateQps } = run;
  await using upstream = await startEchoingUpstream();
  await using database = await startReplicatedDatabase(join(tempDir.path, 'database'), {
    isSynchronous: true,
    content: STARTED_ONCE,
  });
  const nodes = new Nodes(tempDir, database.url, `127.0.0.1:${String(upstream.port)}`);
  await using first = await nodes.start('first');
  const lists = await subscribe(await first.api());
  await using second = await nodes.start('second', { isJoining: true });
  const { mix } = writeQuestions(tempDir);
  const ask = (weir: Weir, job: Partial<LoadJob>): Promise<LoadResult> =>
    load.run({
      ...{ port: weir.dnsPort, questionFile: mix, secs, rateQps, window: 2000, sockets: 8 },
      ...{ clients: CLIENTS, passes: undefined, firstSerial: undefined, check: true },
      ...job,
    });

  const changing = new AbortController();
  const changes = changeEachSecond([first, second], changing.signal);
  const failedOver = failOver(database, secs);
  const live = Promise.all([ask(first, {}), ask(second, {})]);
  const ofKilled = await nodes.askUntilKilled('third', ask, secs * KILL_AT);
  await using third = await nodes.start('third', { isJoining: true });
  const ofThird = await ask(third, { secs: Math.ceil(secs * (1 - KILL_AT)) });
  const [ofFirst, ofSecond] = await live;
  await failedOver;
  changing.abort();
  const made = await changes;

  const alive = { first, second, third };
  const lives: Life[] = [
    { node: 'first', seen: ofFirst, weir: first },
    { node: 'second', seen: ofSecond, weir: second },
    { node: 'third', seen: ofKilled, weir: null },
    { node: 'third', seen: ofThird, weir: third },
  ];
  for (const weir of Object.values(alive)) await untilStored(weir);
  await using compat = await nodes.start('compat', { altCompat: true });
  const wrong = [
    ...(await compareRuns(database, lives, { maxLost: Math.ceil((rateQps * UNSTORED_MS) / 1000) })),
    ...(await compareFigures(alive, compat, database)),
    ...(await missingChanges(alive, made)),
  ];
  await lists.close();
  for (const line of wrong) print(`WRONG: ${line}`);
  return wrong.length === 0 ? 0 : 1;
}

async function failOver(database: ReplicatedDatabase, secs: number): Promise<void> {
  await delay(secs * FAIL_OVER_AT * 1000);
  print('the primary of the database is killed, its standby is promoted');
  await database.failOver();
}

/** Each second, blocks a new name at the next node in turn; returns the names whose change was acknowledged. */
async function changeEachSecond(nodes: readonly Weir[], ended: AbortSignal): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let serial = 0; !ended.aborted; serial++) {
    const domain = `change-${String(serial)}.example`;
    const api = await nodes[serial % nodes.length]!.api();
    const { status } = await api.call('POST', '/managed-domains', { domain, action: 'deny' });
    if (status === 201) acknowledged.push(domain);
    else print(`the change ${String(serial)} got status ${String(status)}`);
    await delay(CHANGE_MS, undefined, { signal: ended }).catch(() => undefined);
  }
  print(`${String(acknowledged.length)} changes were acknowledged`);
  return acknowledged;
}

/** Waits until all nodes have the same revision; returns a line for each node that lacks a change. */
async function missingChanges(
  nodes: Readonly<Record<string, Weir>>,
  acknowledged: readonly string[],
): Promise<string[]> {
  const wrong: string[] = [];
  const revisions = async (): Promise<Set<number | null>> => {
    const reported = await Promise.all(
      Object.entries(nodes).map(async ([name, weir]) => {
        const all = await (await weir.api()).expect<ClusterNode[]>(200, 'GET', '/nodes');
        return all.find(({ node }) => node === name)!.policy_revision;
      }),
    );
    return new Set(reported);
  };
  await until('all nodes to be of one revision', revisions, ({ size }) => size === 1, { pauseMs: POLL_MS });
  for (const [name, weir] of Object.entries(nodes)) {
    const api = await weir.api();
    const path = `/managed-domains?limit=${String(MAX_DOMAINS)}`;
    const { data } = await api.expect<ManagedDomainPage>(200, 'GET', path);
    const domains = new Set(data.map(({ domain }) => domain));
    const missing = acknowledged.filter((domain) => !domains.has(domain));
    if (missing.length > 0) wrong.push(`${name} lacks ${missing.join(', ')}`);
  }
  return wrong;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
