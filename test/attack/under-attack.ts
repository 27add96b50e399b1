/**
 * `npm run attack`: good clients send 5,000 queries per second, some for new names, while every attack of
 * `list-attacks.ts`, `network-attacks.ts` and `web-attack.ts` runs at the same time. Prints the good clients' lost
 * queries and latencies before and under attack; fails if a query was lost or a thread was replaced. Needs a C compiler
 * for the load generator; the attack with addresses that do not resolve needs root.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AHEAD_OF_OTHERS, batchLoad } from '../bench/load/batch-load.ts';
import type { LoadGenerator, LoadResult } from '../bench/load/load.ts';
import { SERIAL_LABEL } from '../bench/material/question-mix.ts';
import { buildNativeTools } from '../bench/native-tools.ts';
import { startChild } from '../bench/process/child.ts';
import { makeTempDir } from '../support/weir/data-dir.ts';
import type { TempDir } from '../support/weir/data-dir.ts';
import { Weir } from '../support/weir/weir-process.ts';
import type { Attack, Target } from './attack.ts';
import { listAttacks } from './list-attacks.ts';
import { LOCAL_RECORDS, networkAttacks } from './network-attacks.ts';
import { webAttack } from './web-attack.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ATTACKS: readonly Attack[] = [...listAttacks, ...networkAttacks, webAttack];
const CACHED_QPS = 4900;
const NEW_QPS = 100;
const CACHED_NAMES = 2000;
const CALM_SECS = 10;
/**
 * Generator and upstream have a higher priority than the attackers, which use the same cores, so that waiting for a
 * core does not count as latency of Weir.
 */
const CORES = [0, 1];

/** Part of each new name, to make it unique. */
let serial = 0;

const { values } = parseArgs({
  options: { secs: { type: 'string', default: '60' }, only: { type: 'string' } },
});
const secs = Number(values.secs);
const only = values.only?.split(',').map(Number);
const tools = buildNativeTools(ROOT);
if (tools === undefined) throw new Error('attack: the load generator needs a C compiler');

const tempDir = makeTempDir();
try {
  process.exitCode = await attack(batchLoad(tools.load, CORES, AHEAD_OF_OTHERS), tempDir);
} finally {
  tempDir.remove();
}

async function attack(load: LoadGenerator, tempDir: TempDir): Promise<number> {
  await using upstream = await startUpstream(tempDir);
  const listFolder = join(tempDir.dataDir, 'lists');
  mkdirSync(listFolder, { recursive: true });
  await using weir = await Weir.start({
    tempDir,
    addresses: ['0.0.0.0'],
    upstreams: [`tcp://127.0.0.1:${String((await upstream.state()).port)}`],
    toml: `[dns]\nlocal_records = ${JSON.stringify(LOCAL_RECORDS)}\n`,
  });
  await weir.api();
  const target: Target = {
    weir,
    upstreamConnections: async () => (await upstream.state()).connections,
    listFolder,
  };
  const files = questionFiles(tempDir);
  await askGood(load, weir, files, 2);
  report('calm', await askGood(load, weir, files, CALM_SECS));
  const ends: (() => Promise<string>)[] = [];
  const begun = ATTACKS.filter(({ fault }) => only === undefined || only.includes(fault));
  for (const { begin } of begun) ends.push(await begin(target));
  await delay(1000);
  const results = await askGood(load, weir, files, secs);
  for (const [index, { fault, name }] of begun.entries())
    print(`attack ${String(fault)}, ${name}: ${await ends[index]!()}`);
  report('under attack', results);
  print(`threads replaced: ${String(weir.replacedThreads)}`);
  const lost = results.reduce((sum, result) => sum + result.lost + failures(result), 0);
  return lost === 0 && weir.replacedThreads === 0 ? 0 : 1;
}

interface Upstream extends AsyncDisposable {
  readonly state: () => Promise<{ readonly port: number; readonly connections: number }>;
}

async function startUpstream(tempDir: TempDir): Promise<Upstream> {
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'attacked-upstream.ts')];
  const launch = { command: process.execPath, args, ipc: true, nice: AHEAD_OF_OTHERS };
  const child = await startChild(launch, CORES, join(tempDir.path, 'upstream.log'));
  return {
    state: async () => (await child.ask({})) as Awaited<ReturnType<Upstream['state']>>,
    [Symbol.asyncDispose]: () => child.stop(),
  };
}

/** Load of the good clients: some query names in the cache, others query new names. */
function askGood(load: LoadGenerator, weir: Weir, files: QuestionFiles, secs: number): Promise<LoadResult[]> {
  const job = { port: weir.dnsPort, secs, window: 4000, passes: undefined, check: false };
  serial += 1_000_000;
  return Promise.all([
    load.run({ ...job, questionFile: files.cached, sockets: 8, rateQps: CACHED_QPS, firstSerial: undefined }),
    load.run({ ...job, questionFile: files.fresh, sockets: 8, rateQps: NEW_QPS, firstSerial: serial }),
  ]);
}

interface QuestionFiles {
  readonly cached: string;
  readonly fresh: string;
}

function questionFiles(tempDir: TempDir): QuestionFiles {
  const cached = join(tempDir.path, 'cached.txt');
  const fresh = join(tempDir.path, 'fresh.txt');
  const names = Array.from({ length: CACHED_NAMES }, (_, index) => `host${String(index)}.example.com A`);
  writeFileSync(cached, `${names.join('\n')}\n`);
  writeFileSync(fresh, `${SERIAL_LABEL}.fresh.example.com A\n`);
  return { cached, fresh };
}

/** Number of answers other than NOERROR, each of which is a failure, because the upstream resolves every name. */
function failures({ rcodes }: LoadResult): number {
  return Object.entries(rcodes).reduce((sum, [rcode, count]) => sum + (rcode === '0' ? 0 : count), 0);
}

function report(when: string, results: readonly LoadResult[]): void {
  for (const [index, kind] of ['cached names', 'new names'].entries()) {
    const { sent, answered, lost, latencyUs, ...rest } = results[index]!;
    const ms = (us: number | undefined): string => ((us ?? 0) / 1000).toFixed(2);
    print(
      `${when}, ${kind}: ${String(sent)} asked, ${String(answered)} answered, ${String(lost)} lost, ${String(failures({ sent, answered, lost, ...rest }))} failed; ` +
        `p50 ${ms(latencyUs?.p50)} ms, p99 ${ms(latencyUs?.p99)} ms, slowest ${ms(latencyUs?.max)} ms`,
    );
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
