/** Builds the dashboard in a separate process with the lowest priority, so that DNS and the API keep responding. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { lowerPriority } from '../../storage/db/postgres/process-priority.ts';
import { ROOT, SOURCES } from './build-manifest.ts';

/** The lowest priority: all other processes run first. */
const NICENESS = 19;
/** Maximum number of characters kept from the end of the process's output. */
const MAX_TEXT = 2000;
const PROGRAM = join(ROOT, SOURCES, 'build', 'build-dashboard.ts');

/** Options of the process. */
export interface BuildProcess {
  readonly logger: Logger;
  /** Aborting this signal ends the process. */
  readonly stopped: AbortSignal;
  /** The program; by default that of the dashboard. */
  readonly program?: string;
}

/**
 * Resolves when the build is in place. @throws {Error} with the output of the process; also if `stopped` is aborted.
 */
export async function buildInProcess({ logger, stopped, program = PROGRAM }: BuildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: stopped,
    killSignal: 'SIGKILL',
    // Use a separate session, because the kernel first divides CPU time among sessions.
    detached: true,
  });
  if (child.pid !== undefined) lowerPriority(child.pid, NICENESS, logger);
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-MAX_TEXT)));
  child.once('error', reject);
  child.once('close', (code, signal) => {
    if (code === 0) resolve(undefined);
    else reject(new Error(output.trim() || `the build ended with ${signal ?? String(code)}`));
  });
  await promise;
}
