// Starts programs pinned to a core, captures their output, and ends exactly these programs, even if the bench itself
// fails.
import type { StdioOptions } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { locate } from './locate.ts';

const TERMINATE_GRACE_MS = 15_000;
const REPLY_PATIENCE_MS = 10_000;

/** A program to run, by default as the user who runs the benchmark. */
export interface Launch {
  command: string;
  args: string[];
  cwd?: string;
  env?: Record<string, string>;
  /** Opens a message channel, see `Child.ask`. */
  ipc?: boolean;
  /** Change of niceness. Values below 0 are ignored unless permitted (as root). */
  nice?: number;
}

/** A started program; standard output and error go to `logFile`. */
export interface Child {
  pid: number;
  logFile: string;
  /** Undefined while the program runs; then describes how it ended. */
  ended(): string | undefined;
  /** Sends a message over the channel of an `ipc` launch, and resolves with the next reply. */
  ask(message: object): Promise<unknown>;
  /** Sends a signal and waits until the program ends; kills it after 15 s. */
  stop(): Promise<void>;
}

const running = new Set<Child>();

const TASKSET = locate('taskset');

/** True if programs can be pinned to cores. */
export const canPin = TASKSET !== undefined;

/**
 * Changes `launch` so that the program, with its threads and children, runs on these cores and with its priority, if
 * possible.
 */
export function pinned(launch: Launch, cores: readonly number[]): Launch {
  const { command, args, nice = 0 } = launch;
  const bound =
    TASKSET !== undefined ? [TASKSET, '-c', cores.join(','), command, ...args] : [command, ...args];
  const mayRise = process.getuid?.() === 0;
  const whole = nice < 0 && mayRise ? ['nice', '-n', String(nice), ...bound] : bound;
  return { ...launch, command: whole[0]!, args: whole.slice(1) };
}

/** Binds a thread of a running program to a core, if possible. */
export function pinThread(tid: number, core: number): void {
  if (TASKSET !== undefined)
    execFileSync(TASKSET, ['-p', '-c', String(core), String(tid)], { stdio: 'ignore' });
}

/** Starts a program on `cores`. Throws if it cannot be started. */
export async function startChild(launch: Launch, cores: readonly number[], logFile: string): Promise<Child> {
  const { command, args, cwd, env } = pinned(launch, cores);
  // The log is passed as a descriptor: piping it through this process would cost CPU here.
  const log = openSync(logFile, 'a');
  const stdio: StdioOptions = ['ignore', log, log, ...(launch.ipc === true ? (['ipc'] as const) : [])];
  // Starts the program in a separate session, like that of a service: Linux may divide a core between sessions first
  // (autogroup), and the bench with its load must not share a session with the server.
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio, detached: true });
  closeSync(log);
  const exit = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  let ended: string | undefined;
  if (child.pid === undefined) throw new Error(`start ${launch.command}: ${await exit}`);
  const started: Child = {
    pid: child.pid,
    logFile,
    ended: () => ended,
    ask: async (message) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`ask ${launch.command}: no reply in ${REPLY_PATIENCE_MS} ms`)),
          REPLY_PATIENCE_MS,
        );
        child.once('message', (reply) => {
          clearTimeout(late);
          resolve(reply);
        });
        child.send(message);
      }),
    stop: async () => {
      if (ended !== undefined) return;
      child.kill('SIGTERM');
      const patience = new AbortController();
      const killer = delay(TERMINATE_GRACE_MS, undefined, { signal: patience.signal }).then(
        () => child.kill('SIGKILL'),
        () => undefined,
      );
      await exit;
      patience.abort();
      await killer;
    },
  };
  running.add(started);
  void exit.then((how) => {
    ended = how;
    running.delete(started);
  });
  return started;
}

/** The last lines of a program's output, for an error message. */
export function lastLines(child: Child, count = 8): string {
  return readFileSync(child.logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}

/** Ends all running programs and waits for them, after an error or an interrupt. */
export async function stopRunning(): Promise<void> {
  await Promise.all([...running].map(async (child) => child.stop()));
}
