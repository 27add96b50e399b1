/** The process that uses a data directory: after an upgrade it is not a child of the process that started the node. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../parts/until.ts';
import type { TempDir } from './data-dir.ts';

/** A node under test. */
interface WithTempDir {
  readonly tempDir: TempDir;
}

/** The process that uses the data directory. */
export function processOf({ tempDir }: WithTempDir): number {
  return Number(readFileSync(join(tempDir.dataDir, 'weir.pid'), 'utf8'));
}

/** Kills the process that has taken over from process `pid` in an upgrade, at whatever step the upgrade is. */
export async function killSuccessor({ tempDir }: WithTempDir, pid: number): Promise<void> {
  let holder: number;
  try {
    holder = processOf({ tempDir });
  } catch {
    return; // The process no longer exists.
  }
  const command = commandOf(String(holder));
  const isInTempDir = command.some((word) => word.startsWith(`${tempDir.path}/`));
  // A process without this flag was started later in the same folder and belongs to another test.
  if (holder !== pid && isInTempDir && command.includes('--take-over')) await endProcess(holder, 'SIGKILL');
}

/** Ends a process that is not a child of this process, and waits until it has ended. */
export async function endProcess(pid: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal);
  await until(
    `process ${String(pid)} to end after ${signal}`,
    () => statusOf(pid),
    () => !isRunning(pid),
  );
}

/** Whether the process runs; a zombie does not count. */
export function isRunning(pid: number): boolean {
  const status = statusOf(pid);
  return status !== '' && !/^State:\s+[ZX]/m.test(status);
}

/** `/proc/PID/status`; empty if there is no such process. */
function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  } catch {
    return '';
  }
}

/** The arguments of a process; empty if it has ended. */
export function commandOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
