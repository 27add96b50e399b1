/** Starts the process that is to take over, from the folder of a release. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The folder of the release that this process runs. */
export const OWN_RELEASE = join(import.meta.dirname, '..', '..');

/** Set by a service manager for this process alone. */
const OWN_VARIABLES = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES', 'WATCHDOG_PID'];

/** Starts it with the standard output of this one; throws where the folder holds no release. */
export function startSuccessor(release: string, configFile: string | null): ChildProcess {
  const command = join(release, 'control-plane', 'cli', 'weir');
  accessSync(command, constants.X_OK);
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !OWN_VARIABLES.includes(name)),
  );
  const config = configFile === null ? [] : ['--config', configFile];
  return spawn(command, ['start', '--take-over', ...config], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
  });
}

/** How it ended, in words; resolves once it has. */
export async function successorEnd(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null)
    await Promise.race([once(child, 'exit'), once(child, 'error')]);
  const { exitCode, signalCode } = child;
  return signalCode === null
    ? `the new process ended with ${String(exitCode)}; its log says why`
    : `the new process was ended by ${signalCode}`;
}

/** The same, and kills it after `withinMs` milliseconds. */
export async function endWithin(child: ChildProcess, withinMs: number): Promise<string> {
  const late = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const end = await successorEnd(child);
  clearTimeout(late);
  return end;
}
