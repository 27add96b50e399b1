// A Weir server under load while it is upgraded, for `upgrade-bench.ts` and `upgrade-matrix.ts`: datagrams are sent at
// a fixed rate without retries; clients of TCP, TLS and HTTPS send one question at a time, and retry once if a
// connection ends.
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { endProcess, processOf } from '../../support/weir/holder.ts';
import { overDoh, overDot, overTcp, PatientLoad } from '../../support/weir/patient-load.ts';
import { acceptsHandover } from '../../support/weir/upgrades.ts';
import { Weir } from '../../support/weir/weir-process.ts';
import { batchLoad } from '../load/batch-load.ts';
import type { LoadJob, LoadResult } from '../load/load.ts';
import { buildNativeTools } from '../native-tools.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NAMES = 10_000;
/** Milliseconds of load before an upgrade starts. */
const BEFORE_MS = 1000;
const POLL_MS = 50;
/** Pause of each client between queries over a stream, milliseconds. */
const STREAM_PAUSE_MS = 5;
const SERVFAIL = '2';

/** One upgrade. */
export interface Turn {
  readonly kind: string;
  readonly tookMs: number;
  readonly sent: number;
  readonly lost: number;
  readonly servfail: number;
  readonly p99Us: number | undefined;
  readonly maxUs: number | undefined;
  /** Questions over streams: answered, retried, lost. */
  readonly streams: readonly [number, number, number];
  readonly residentMib: number;
}

/** The load of each turn. */
export interface TurnLoad {
  /** Datagrams per second. */
  readonly rateQps: number;
  /** Number of clients for each of TCP, TLS and HTTPS. */
  readonly clients: number;
  readonly secs: number;
}

/** Starts a Weir server, runs `work` with it, and stops it. */
export async function withStand(
  { rateQps, clients, secs }: TurnLoad,
  work: (stand: Stand) => Promise<void>,
): Promise<void> {
  const upstream = await startEchoingUpstream();
  const ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
  const weir = await Weir.start({
    upstreams: [`127.0.0.1:${String(upstream.port)}`],
    toml: encryptedToml(ports),
  });
  try {
    const load = loadOn(weir, rateQps, secs);
    await load({ passes: 1, rateQps: 2000 });
    await work({ weir, load, ports, clients });
  } finally {
    await endProcess(processOf(weir), 'SIGTERM');
    await weir.stop();
    await upstream.close();
  }
}

export interface Stand {
  readonly weir: Weir;
  readonly load: (job: Partial<LoadJob>) => Promise<LoadResult>;
  readonly ports: { readonly dot: number; readonly doh: number };
  readonly clients: number;
}

/** The datagrams of an upgrade. All upgrades use the same names, which are in the cache. */
function loadOn({ tempDir, dnsPort }: Weir, rateQps: number, secs: number): Stand['load'] {
  const tools = buildNativeTools(ROOT);
  if (tools === undefined) throw new Error('the load generator needs a C compiler');
  const questionFile = join(tempDir.path, 'questions.txt');
  const lines = Array.from({ length: NAMES }, (_, i) => `n${String(i)}.cached.example.com A\n`);
  writeFileSync(questionFile, lines.join(''));
  const generator = batchLoad(tools.load, [...Array(availableParallelism()).keys()]);
  const fixed = { port: dnsPort, questionFile, secs, window: 20_000, sockets: 32, rateQps };
  return (job) =>
    generator.run({ ...fixed, passes: undefined, firstSerial: undefined, check: false, ...job });
}

/** Runs `work` under the load. */
export async function takeTurn(
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
  while (!(await isComplete(weir))) await delay(POLL_MS);
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

/** Whether a process owns the data directory and its database, and so can be upgraded. */
async function isComplete(weir: Weir): Promise<boolean> {
  const answer = await weir.health().catch(() => null);
  return answer?.body.checks.database.status === 'ok' && (await acceptsHandover(weir));
}

function residentMib(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  return Math.round(Number(found?.[1]) / 1024);
}
