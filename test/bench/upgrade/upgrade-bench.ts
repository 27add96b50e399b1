// `npm run upgrade-bench`: a Weir under load is upgraded again and again, forwards and backwards, then with the new process
// killed at each step. Datagrams come at a fixed rate and are never asked twice; clients of TCP, TLS and HTTPS ask one
// question after the other, and once more where a connection ends. Takes a C compiler for the load.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { overDoh, overDot, overTcp, PatientLoad } from '../../support/weir/patient-load.ts';
import { endProcess, processOf } from '../../support/weir/holder.ts';
import { handsOver, runUpgrade } from '../../support/weir/upgrades.ts';
import { Weir } from '../../support/weir/weir-process.ts';
import { batchLoad } from '../load/batch-load.ts';
import type { LoadJob, LoadResult } from '../load/load.ts';
import { buildNativeTools } from '../native-tools.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const RESULT_FILE = join(ROOT, 'test', 'bench', 'results', 'upgrade.json');
const HELP = `npm run upgrade-bench -- [options]

  --upgrades N     how many (20)
  --rate N         datagrams a second (20000)
  --clients N      of each of TCP, TLS and HTTPS (4)
  --no-kills       only whole upgrades
  --other FOLDER   another release, with its packages: upgrades go there and back
`;
const NAMES = 10_000;
/** Of load before an upgrade starts, and after it has ended, milliseconds. */
const BEFORE_MS = 1000;
const LOAD_SECS = 15;
const LOOK_MS = 50;
/** Of each client over a stream. */
const STREAM_PAUSE_MS = 5;
const SERVFAIL = '2';
/** The lines after which the new process is killed. */
const KILLED_AFTER = [/ starts$/, / is loaded$/, /^it answers/, /in flight is answered$/] as const;

/** One upgrade. */
interface Turn {
  readonly kind: string;
  readonly tookMs: number;
  readonly sent: number;
  readonly lost: number;
  readonly servfail: number;
  readonly p99Us: number | undefined;
  readonly maxUs: number | undefined;
  /** Questions over streams: answered, asked twice, lost. */
  readonly streams: readonly [number, number, number];
  readonly residentMib: number;
}

/** What a turn works with. */
interface Stand {
  readonly weir: Weir;
  readonly load: (job: Partial<LoadJob>) => Promise<LoadResult>;
  readonly ports: { readonly dot: number; readonly doh: number };
  readonly clients: number;
}

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      upgrades: { type: 'string', default: '20' },
      rate: { type: 'string', default: '20000' },
      clients: { type: 'string', default: '4' },
      other: { type: 'string', default: ROOT },
      kills: { type: 'boolean', default: true },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return void process.stdout.write(HELP);
  const upstream = await startEchoingUpstream();
  const ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
  const weir = await Weir.start({
    upstreams: [`127.0.0.1:${String(upstream.port)}`],
    toml: encryptedToml(ports),
  });
  const turns: Turn[] = [];
  try {
    const load = loadOn(weir, Number(values.rate));
    const stand: Stand = { weir, load, ports, clients: Number(values.clients) };
    await load({ passes: 1, rateQps: 2000 });
    turns.push(await takeTurn(stand, 'no upgrade', async () => undefined));
    for (let i = 0; i < Number(values.upgrades); i++) {
      const release = i % 2 === 0 ? values.other : ROOT;
      turns.push(await takeTurn(stand, i % 2 === 0 ? 'forwards' : 'backwards', () => upgrade(weir, release)));
    }
    for (const step of values.kills ? KILLED_AFTER : [])
      turns.push(await takeTurn(stand, `killed ${step.source}`, () => upgradeInVain(weir, step)));
  } finally {
    await endProcess(processOf(weir), 'SIGTERM');
    await weir.stop();
    await upstream.close();
  }
  mkdirSync(dirname(RESULT_FILE), { recursive: true });
  writeFileSync(RESULT_FILE, `${JSON.stringify({ rate: Number(values.rate), turns }, null, 2)}\n`);
}

/** The datagrams of every turn: the same names, which the cache has. */
function loadOn({ room, dnsPort }: Weir, rateQps: number): Stand['load'] {
  const tools = buildNativeTools(ROOT);
  if (tools === undefined) throw new Error('the load takes a C compiler');
  const questionFile = join(room.path, 'questions.txt');
  const lines = Array.from({ length: NAMES }, (_, i) => `n${String(i)}.cached.example.com A\n`);
  writeFileSync(questionFile, lines.join(''));
  const generator = batchLoad(tools.load, [...Array(availableParallelism()).keys()]);
  const fixed = { port: dnsPort, questionFile, secs: LOAD_SECS, window: 20_000, sockets: 32, rateQps };
  return (job) =>
    generator.run({ ...fixed, passes: undefined, firstSerial: undefined, check: false, ...job });
}

/** Does `work` under the load. */
async function takeTurn(
  { weir, load, ports, clients }: Stand,
  kind: string,
  work: () => Promise<void>,
): Promise<Turn> {
  const opens = [overTcp(weir.dnsPort), overDot(ports.dot), overDoh(ports.doh)];
  const streams = opens.flatMap((open, i) =>
    Array.from(
      { length: clients },
      (_, n) => new PatientLoad(open, `s${String(i)}-${String(n)}`, STREAM_PAUSE_MS),
    ),
  );
  const running = load({});
  await delay(BEFORE_MS);
  const startedMs = performance.now();
  await work();
  const tookMs = Math.round(performance.now() - startedMs);
  const { sent, lost, rcodes, latencyUs } = await running;
  await Promise.all(streams.map((one) => one.stop()));
  while (!(await handsOver(weir))) await delay(LOOK_MS);
  const count = (of: (one: PatientLoad) => readonly unknown[]): number =>
    streams.reduce((sum, one) => sum + of(one).length, 0);
  const turn: Turn = {
    ...{ kind, tookMs, sent, lost },
    servfail:
      (rcodes[SERVFAIL] ?? 0) + streams.flatMap((one) => one.rcodes).filter((code) => code === 2).length,
    ...{ p99Us: latencyUs?.p99, maxUs: latencyUs?.max },
    streams: [count((one) => one.rcodes), count((one) => one.retried), count((one) => one.lost)],
    residentMib: residentMib(processOf(weir)),
  };
  process.stdout.write(`${JSON.stringify(turn)}\n`);
  return turn;
}

async function upgrade(weir: Weir, release: string): Promise<void> {
  const { code, output } = await runUpgrade(weir, undefined, release);
  if (code !== 0) throw new Error(`upgrade: ${output}`);
}

async function upgradeInVain(weir: Weir, step: RegExp): Promise<void> {
  const { code, output } = await runUpgrade(weir, (line, pid) => {
    if (step.test(line)) process.kill(pid, 'SIGKILL');
  });
  if (code !== 1) throw new Error(`upgrade whose process was killed: ${output}`);
}

function residentMib(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  return Math.round(Number(found?.[1]) / 1024);
}

await main(process.argv.slice(2));
