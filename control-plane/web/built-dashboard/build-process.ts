/** Builds the dashboard in a process of its own, of the lowest priority: DNS and the API answer meanwhile. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { lowerPriority } from '../../storage/db/postgres/process-priority.ts';
import { ROOT, SOURCES } from './build-manifest.ts';

/** The lowest: whatever else wants the core gets it first. */
const NICENESS = 19;
/** Characters of what the process says that are kept, from the end. */
const MOST_TEXT = 2000;
const PROGRAM = join(ROOT, SOURCES, 'build', 'build-dashboard.ts');

/** How the process is started. */
export interface BuildProcess {
  readonly logger: Logger;
  /** Ends it. */
  readonly stopped: AbortSignal;
  /** The program; that of the dashboard unless given. */
  readonly program?: string;
}

/** Resolves once the build is in place. @throws {Error} with what the process said; when `stopped` comes, too. */
export async function buildInProcess({ logger, stopped, program = PROGRAM }: BuildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: stopped,
    killSignal: 'SIGKILL',
    // A session of its own: the kernel shares out a core among sessions first.
    detached: true,
  });
  if (child.pid !== undefined) lowerPriority(child.pid, NICENESS, logger);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-MOST_TEXT)));
  child.once('error', reject);
  child.once('close', (code, signal) => {
    if (code === 0) resolve(undefined);
    else reject(new Error(said.trim() || `the build ended with ${signal ?? String(code)}`));
  });
  await promise;
}
