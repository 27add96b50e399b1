// A server during its measurement: started and timed, checked by the gate, warmed, and measured.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkGate } from './gate.ts';
import type { LoadGenerator, LoadJob } from './load/load.ts';
import { probe } from './servers/answer-probe.ts';
import type { Child, Launch } from './process/child.ts';
import { lastLines, pinThread, startChild } from './process/child.ts';
import { cpuBetween, readCpu, readMemory } from './process/proc-tree.ts';
import type { Run } from './report/figures.ts';
import type { ListFiles, ServerEnvironment } from './servers/peer-server.ts';
import type { Contestant } from './servers/server-table.ts';
import type { WeirApi } from './servers/weir-api.ts';
import type { Upstream } from './servers/bench-upstream.ts';
import type { PreparedWorkload } from './prepared-workload.ts';

const START_TIMEOUT_MS = 120_000;
const ANSWER_THREAD = /answer/;
const CACHE_ENTRIES = 200_000;
/** Few queries are in flight while the cache is warmed, because a query lost then would cause a cache miss later. */
const WARMUP_WINDOW = 64;
const WARMUP_SECS = 300;
const STEADY_SOCKETS = 16;
/** A log that has not grown for this long is complete. */
const LOG_SETTLE_MS = 3000;
const LOG_POLL_MS = 500;

/** Parts that all servers of a run share. */
export interface Stage {
  dir: string;
  basePort: number;
  serverCores: readonly number[];
  upstream: Upstream;
  /** Whether the rows of Weir's stored query log are counted after each run. */
  countLog: boolean;
  load: LoadGenerator;
  lists: ListFiles;
  /** Allowed names for the gate, at least one. */
  allowedNames: readonly string[];
}

export interface RunningServer {
  name: string;
  child: Child;
  port: number;
  /** Names that the server blocks. */
  names: readonly string[];
  /** A session of the server's API, if it has an API. */
  api: WeirApi | undefined;
  /** Time from the start of the process to the first blocked answer, or, for the echo server, to the first answer. */
  loadSecs: number;
  contestant: Contestant;
  /** Restarts the server; resolves with the seconds until its first blocked answer. */
  restart(): Promise<number>;
}

/** Starts a server with its list and measures the time. Throws with the server's last output if it does not start. */
export async function startServer(
  stage: Stage,
  contestant: Contestant,
  place: number,
  queryLog: boolean,
): Promise<RunningServer> {
  const { server, installed } = contestant;
  const dir = newFolder(join(stage.dir, server.name));
  const environment: ServerEnvironment = {
    dir,
    port: stage.basePort + 1 + place,
    webPort: stage.basePort + 20 + place,
    upstreamPort: stage.upstream.port,
    upstreamCa: stage.upstream.caPath,
    cacheEntries: CACHE_ENTRIES,
    queryLog,
    lists: stage.lists,
    start: async (launch) => startChild(launch, stage.serverCores, join(dir, 'output.log')),
  };
  const launch = server.prepare(environment, installed.binary);
  await server.firstRun?.(environment, launch);
  const { names } = stage.lists;
  try {
    const { child, loadSecs } = await startTimed(environment, launch, names.at(-1)!);
    const api = await server.connect?.(environment, () => expectAlive(child));
    const running: RunningServer = {
      ...{ name: server.name, child, port: environment.port, names, api, loadSecs, contestant },
      restart: async () => {
        await running.child.stop();
        const again = await startTimed(environment, launch, names.at(-1)!);
        running.child = again.child;
        return again.loadSecs;
      },
    };
    return running;
  } catch (error) {
    throw new Error(`start ${server.name}`, { cause: error });
  }
}

/**
 * Starts the program, and waits until it blocks a listed name. Ends the program if it does not block the name in time.
 */
async function startTimed(
  environment: ServerEnvironment,
  launch: Launch,
  listed: string,
): Promise<{ child: Child; loadSecs: number }> {
  const startedAt = performance.now();
  const child = await environment.start(launch);
  try {
    while ((await probe(environment.port, listed)) !== 'blocked') {
      expectAlive(child);
      if (performance.now() > startedAt + START_TIMEOUT_MS)
        throw new Error(`${listed} is not blocked after ${START_TIMEOUT_MS} ms`);
      await delay(10);
    }
    return { child, loadSecs: (performance.now() - startedAt) / 1000 };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

function expectAlive(child: Child): void {
  if (child.ended() !== undefined) throw new Error(`it ended: ${child.ended()}\n${lastLines(child)}`);
}

/** Pins Weir's answer threads to one core; its other threads run on any core with capacity. */
export function pinAnswerThreads(running: RunningServer, core: number): void {
  for (const { tid, comm } of readCpu(running.child.pid).threads)
    if (ANSWER_THREAD.test(comm)) pinThread(tid, core);
}

/** Creates the folder. If the same server was started before, the name gets a number at its end. */
export function newFolder(wanted: string): string {
  for (let number = 1; ; number++) {
    const dir = number === 1 ? wanted : `${wanted}-${number}`;
    if (existsSync(dir)) continue;
    mkdirSync(dir);
    return dir;
  }
}

/** Fills the server's cache and runs the gate. Throws if the server does not behave as the measurement requires. */
export async function warmAndCheck(
  stage: Stage,
  running: RunningServer,
  workload: PreparedWorkload,
): Promise<void> {
  const { server } = running.contestant;
  if (server.filters) await checkGate(running.port, running.names, stage.allowedNames);
  if (workload.warmupPasses === 0) return;
  const pass: LoadJob = {
    port: running.port,
    questionFile: workload.questionFile,
    secs: WARMUP_SECS,
    rateQps: undefined,
    window: WARMUP_WINDOW,
    sockets: 4,
    clients: workload.load.clients,
    passes: workload.warmupPasses,
    firstSerial: undefined,
    check: false,
  };
  await stage.load.run(pass);
  const checked = await stage.load.run({ ...pass, passes: 1, check: true });
  const faults: string[] = [];
  const failed = Object.entries(checked.rcodes).filter(([rcode]) => rcode !== '0' && rcode !== '3');
  if (failed.length > 0)
    faults.push(`answers with rcode ${failed.map(([rcode, n]) => `${rcode}: ${n}`).join(', ')}`);
  if (checked.answered < checked.sent * 0.999) faults.push(`${checked.sent - checked.answered} unanswered`);
  if ((checked.mismatched ?? 0) > 0) faults.push(`${checked.mismatched ?? 0} answers to another question`);
  if (server.filters && checked.blocked !== undefined) {
    const off = Math.abs(checked.blocked - workload.blockedCount) / checked.sent;
    if (off > 0.001) faults.push(`${checked.blocked} answers blocked, expected ${workload.blockedCount}`);
  }
  if (faults.length > 0) throw new Error(`check ${server.name}: ${faults.join('; ')}`);
}

/**
 * Sends the questions of a workload to a running server repeatedly, at the rate and for the time that the caller sets.
 */
export function steadyJob(
  { port }: RunningServer,
  { questionFile }: PreparedWorkload,
  window: number,
): Omit<LoadJob, 'secs' | 'rateQps'> {
  return {
    ...{ port, questionFile, window, sockets: STEADY_SOCKETS },
    passes: undefined,
    firstSerial: undefined,
    check: false,
  };
}

/** One measured run. */
export async function measure(
  stage: Stage,
  running: RunningServer,
  workload: PreparedWorkload,
  rotation: number,
  firstSerial: number | undefined,
): Promise<Run> {
  const { pid } = running.child;
  const startedAt = new Date();
  const askedBefore = await stage.upstream.questionCount();
  const before = readCpu(pid);
  const result = await stage.load.run({
    port: running.port,
    questionFile: workload.questionFile,
    secs: workload.secs,
    rateQps: workload.load.rateQps,
    window: workload.load.window,
    sockets: workload.load.sockets,
    clients: workload.load.clients,
    passes: undefined,
    firstSerial,
    check: false,
  });
  await delay(workload.settleMs);
  const cpu = cpuBetween(
    before,
    readCpu(pid),
    (comm) => running.contestant.server.threadGroup?.(comm) ?? 'all',
  );
  const memory = readMemory(pid);
  const logged = stage.countLog && workload.weirQueryLog && running.api !== undefined;
  const logLost = logged ? await lostRows(running.api!, startedAt, result.answered) : undefined;
  if (running.child.ended() !== undefined)
    throw new Error(
      `measure ${running.name}: it ended: ${running.child.ended()}\n${lastLines(running.child)}`,
    );
  const perAnswer = (ns: number): number => ns / 1000 / Math.max(1, result.answered);
  return {
    server: running.name,
    rotation,
    qps: result.answered / result.elapsedSecs,
    sent: result.sent,
    answered: result.answered,
    lost: result.lost,
    rcodes: result.rcodes,
    ...(result.latencyUs === undefined ? {} : { latencyUs: result.latencyUs }),
    ...(result.slippedSecs === undefined ? {} : { slippedSecs: result.slippedSecs }),
    ...(result.late === undefined ? {} : { late: result.late }),
    ...(logLost === undefined ? {} : { logLost }),
    cpuUs: perAnswer(cpu.totalNs),
    childrenCpuUs: perAnswer(cpu.childrenNs),
    threadGroupsCpuUs: Object.fromEntries(
      Object.entries(cpu.groupsNs).map(([group, ns]) => [group, perAnswer(ns)]),
    ),
    upstreamQuestions: (await stage.upstream.questionCount()) - askedBefore,
    rssMiB: memory.ownBytes / 2 ** 20,
    childrenRssMiB: memory.childrenBytes / 2 ** 20,
  };
}

/** Number of answered queries that are missing in the stored query log, once the log has stopped growing. */
async function lostRows(api: WeirApi, since: Date, answered: number): Promise<number> {
  let stored = await api.storedQueries(since);
  for (let stoodStillMs = 0; stored < answered && stoodStillMs < LOG_SETTLE_MS; stoodStillMs += LOG_POLL_MS) {
    await delay(LOG_POLL_MS);
    const now = await api.storedQueries(since);
    if (now > stored) stoodStillMs = 0;
    stored = now;
  }
  return Math.max(0, answered - stored);
}
