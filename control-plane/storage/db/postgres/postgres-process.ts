/**
 * One PostgreSQL server as a child process: starts, watches and stops it, and ends a server that is still running after
 * Weir was killed. `embedded-server.ts` chooses its files and settings.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../../shared/log.ts';
import { codeOf } from '../../../../shared/errors.ts';
import { spawnIdentity } from './postgres-account.ts';
import type { PostgresAccount } from './postgres-account.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { lowerPriority, NICENESS } from './process-priority.ts';

/** Server to start. */
export interface PostgresLaunch {
  /** Directory with `bin/postgres`. */
  readonly runtime: string;
  readonly cluster: string;
  readonly account: PostgresAccount;
  readonly settings: PostgresSettings;
  readonly logger: Logger;
  /** Aborts the start of a server. */
  readonly signal?: AbortSignal;
}

/** A server that accepts connections. */
export interface RunningPostgres {
  readonly pid: number;
  /** Resolves with its last output when the process has ended. */
  readonly exited: Promise<string>;
  /**
   * Shuts down in fast mode: sessions are ended, and all data is written. If the process is still running shortly
   * before the deadline, it is killed, and the next start recovers the data. Resolves when the process has ended.
   */
  stop(withinMs: number): Promise<void>;
}

type PostgresChild = ChildProcessByStdio<null, null, Readable>;

/** Log line of a server that accepts connections; a standby adds that it is read-only. */
const READY = /database system is ready to accept (read-only )?connections/;
/** Milliseconds for ending a server that is still running after Weir was killed. */
const ORPHAN_MS = 9500;
/**
 * Milliseconds to wait for the last output of a server that has ended. The wait is limited, because a session that
 * hangs keeps the pipe open.
 */
const LAST_WORDS_MS = 1000;
/** Share of the shutdown time for each signal after SIGINT, and its maximum in milliseconds. */
const HARSH = { share: 0.2, mostMs: 1000 } as const;

/**
 * Signals of a shutdown, each with its time: SIGINT ends sessions and writes all data; after SIGQUIT, the next start
 * must recover the data.
 */
function stopSteps(withinMs: number): readonly (readonly [NodeJS.Signals, number])[] {
  const harshMs = Math.min(withinMs * HARSH.share, HARSH.mostMs);
  return [
    ['SIGINT', withinMs - 2 * harshMs],
    ['SIGQUIT', harshMs],
    ['SIGKILL', harshMs],
  ];
}

/** Starts the server. Resolves when it accepts connections; rejects with its output if it ends first. */
export async function launchPostgres(launch: PostgresLaunch): Promise<RunningPostgres> {
  const child = spawnServer(launch);
  // The priority is set before the server starts other processes, which inherit it.
  if (child.pid !== undefined) lowerPriority(child.pid, NICENESS.behindDns, launch.logger);
  const lastWords: string[] = [];
  let isReady = (): void => undefined;
  const ready = new Promise<void>((resolve) => (isReady = resolve));
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    logServerLine(line, launch.logger);
    if (/^(FATAL|PANIC|HINT|ERROR|WARNING|\S*postgres:)/.test(line)) lastWords.push(line);
    if (lastWords.length > 4) lastWords.shift();
    if (READY.test(line)) isReady();
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(explainSpawnError(error, launch)));
    const report = (code: number | null, signal: NodeJS.Signals | null): void => {
      const how = signal === null ? `code ${code ?? '?'}` : signal;
      resolve([`server ended with ${how}`, ...lastWords].join('; '));
    };
    child.once('close', report);
    child.once('exit', (...how) => setTimeout(report, LAST_WORDS_MS, ...how).unref());
  });
  const giveUp = (): void => void child.kill('SIGQUIT');
  launch.signal?.addEventListener('abort', giveUp, { once: true });
  if (launch.signal?.aborted === true) giveUp();
  const early = await Promise.race([ready.then(() => null), exited]);
  launch.signal?.removeEventListener('abort', giveUp);
  if (early !== null || child.pid === undefined) {
    throw new Error(`could not start PostgreSQL on ${launch.cluster}: ${early ?? 'no process'}`);
  }
  for (const pid of serversOn(launch.cluster)) lowerPriority(pid, NICENESS.behindDns, launch.logger);
  const release = watchOver(child.pid, launch.account, launch.logger);
  void exited.then(release);
  return { pid: child.pid, exited, stop: (withinMs) => stopChild(child, exited, launch, withinMs) };
}

function spawnServer({ runtime, cluster, account, settings }: PostgresLaunch): PostgresChild {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // The server gets its own process session: Ctrl-C in a terminal must only reach Weir, which still has to write its
  // log.
  return spawn(join(runtime, 'bin', 'postgres'), ['-D', cluster, ...flags], {
    cwd: dirname(cluster),
    env: serverEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    ...spawnIdentity(account),
  });
}

/** Environment of PostgreSQL's programs: it excludes Weir's variables and makes messages English. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** Turns spawn errors into helpful messages. */
export function explainSpawnError(
  error: Error,
  { runtime, account }: Pick<PostgresLaunch, 'runtime' | 'account'>,
): string {
  const code = codeOf(error);
  const program = join(runtime, 'bin');
  if (code === 'ENOENT')
    return `the binaries in ${program} need glibc, which this system lacks; set database.url`;
  if (code === 'EPERM')
    return `Weir may not switch to user ${account.name}; start it as that user or set database.url`;
  if (code === 'EACCES') return `user ${account.name} may not execute the binaries in ${program}`;
  return error.message;
}

function logServerLine(line: string, logger: Logger): void {
  const match = /^(LOG|WARNING|ERROR|FATAL|PANIC|HINT|DETAIL|STATEMENT|CONTEXT):\s+(.*)$/.exec(line);
  const fields = { component: 'postgres' };
  const text = match?.[2] ?? line;
  if (text.includes('due to administrator command')) return logger.debug(text, fields); // Weir stops it.
  switch (match?.[1]) {
    case 'PANIC':
      return logger.error(text, fields);
    case 'WARNING':
    case 'FATAL':
      return logger.warn(text, fields);
    default:
      return logger.debug(text, fields);
  }
}

/**
 * Starts a shell that waits for the end of a pipe that only Weir holds and then asks the server to shut down, so that
 * the server also ends if Weir is killed. Returns a function that ends the shell. Without a shell, the next start of
 * Weir ends the server.
 */
function watchOver(pid: number, account: PostgresAccount, logger: Logger): () => void {
  const script = `trap '' INT TERM HUP; read -r _ || kill -INT "$1"`;
  const watch = spawn('/bin/sh', ['-c', script, 'weir-watch', String(pid)], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    ...spawnIdentity(account),
  });
  const note = (error: Error): void => logger.debug('could not monitor PostgreSQL', { error: error.message });
  watch.once('error', note);
  watch.stdin.once('error', note);
  watch.unref();
  return () => {
    watch.stdin.end('done\n');
  };
}

async function stopChild(
  child: PostgresChild,
  exited: Promise<string>,
  { cluster, logger }: PostgresLaunch,
  withinMs: number,
): Promise<void> {
  for (const [signal, timeoutMs] of stopSteps(withinMs)) {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    // All processes must be killed, because sessions that hang do not notice that their server has ended.
    if (signal === 'SIGKILL') signalAll(serversOn(cluster), signal);
    const timer = new AbortController();
    const late = sleep(timeoutMs, 'late', { signal: timer.signal }).catch(() => 'aborted');
    const outcome = await Promise.race([exited, late]);
    timer.abort();
    if (outcome !== 'late') break;
    logger.warn(`PostgreSQL is still running ${Math.round(timeoutMs)} ms after ${signal}`);
  }
}

/**
 * Ends every server process that still works on `cluster`, then deletes its pid file. Only the holder of the data
 * directory's lock may call this; any such process is then an orphan. The content of the pid file is not used, because
 * process ids are reused, especially in restarted containers.
 */
export async function endOrphans(cluster: string, logger: Logger): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  let orphans = serversOn(cluster);
  if (orphans.length > 0)
    logger.warn('stopping the PostgreSQL server that a killed process of Weir left running', {
      pids: orphans,
    });
  for (const [signal, timeoutMs] of stopSteps(ORPHAN_MS)) {
    if (orphans.length === 0) break;
    const parent = readPid(pidFile);
    signalAll(orphans.includes(parent) && signal !== 'SIGKILL' ? [parent] : orphans, signal);
    for (let waitedMs = 0; waitedMs < timeoutMs && orphans.length > 0; waitedMs += 20) {
      await sleep(20);
      orphans = serversOn(cluster);
    }
  }
  if (orphans.length > 0)
    throw new Error(`could not end orphaned PostgreSQL processes ${orphans.join(', ')}`);
  rmSync(pidFile, { force: true });
}

/** Process ids of the postmaster of a cluster and its children, which have the cluster as working directory. */
export function serversOn(cluster: string): number[] {
  const wanted = realpathSync(cluster);
  const pids: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) !== wanted) continue;
      const program = basename(readlinkSync(`/proc/${entry}/exe`).replace(/ \(deleted\)$/, ''));
      if (program === 'postgres') pids.push(Number(entry));
    } catch {
      continue; // The process has ended, or belongs to another user.
    }
  }
  return pids;
}

function readPid(pidFile: string): number {
  try {
    return Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  } catch {
    return 0; // Without the file, the postmaster has ended, and its children are about to end.
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      continue; // The process ended between the check and the signal.
    }
  }
}
