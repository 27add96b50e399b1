// Starting programs pinned to a core, keeping their output, and ending exactly those, also when the harness dies.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { locate } from './locate.ts';

const TERMINATE_GRACE_MS = 15_000;

/** What to run. `user` and other privileges are the harness's own. */
export interface Launch {
  command: string;
  args: string[];
  cwd?: string;
  env?: Record<string, string>;
}

/** A started program; standard output and error go to `logFile`. */
export interface Child {
  pid: number;
  logFile: string;
  /** Undefined while it runs, else how it ended. */
  ended(): string | undefined;
  /** Asks it to end and waits; kills it after 15 s. */
  stop(): Promise<void>;
}

const running = new Set<Child>();

/** True where programs can be pinned to cores. */
export const canPin = locate('taskset') !== undefined;

/** `launch` with its threads and children bound to one core, where that can be done. */
export function pinned(launch: Launch, core: number): Launch {
  return canPin
    ? { ...launch, command: 'taskset', args: ['-c', String(core), launch.command, ...launch.args] }
    : launch;
}

/** Starts a program on `core`. Throws when it cannot be started at all. */
export async function startChild(launch: Launch, core: number, logFile: string): Promise<Child> {
  const { command, args, cwd, env } = pinned(launch, core);
  // The log is handed over as a descriptor: piped through this process, a chatty server would cost CPU here.
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', log, log] });
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

/** The last lines a program wrote, for an error message. */
export function lastLines(child: Child, count = 8): string {
  return readFileSync(child.logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}

/** Ends whatever still runs and waits for it: for the way out after an error or an interrupt. */
export async function stopRunning(): Promise<void> {
  await Promise.all([...running].map(async (child) => child.stop()));
}
