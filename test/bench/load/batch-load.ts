// The bench's own generator (`native/dns-load.c`): fast enough to saturate any server on one core.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pinned } from '../process/child.ts';
import type { LoadGenerator, LoadJob } from './load.ts';
import { loadResultSchema } from './load.ts';

/** Time that the generator needs to start and to receive the last answers, milliseconds. */
const GRACE_MS = 30_000;
/**
 * Niceness of a generator that shares its core with other work. Without a higher priority, delays of the generator
 * would count as latency of the server.
 */
export const AHEAD_OF_OTHERS = -15;

/** A generator that runs `program` on `cores`; see `Launch` for `nice`. */
export function batchLoad(program: string, cores: readonly number[], nice = 0): LoadGenerator {
  return {
    name: 'dns-load',
    run: async (job) => {
      const { command, args } = pinned({ command: program, args: argumentsOf(job), nice }, cores);
      const { stdout } = await promisify(execFile)(command, args, { timeout: job.secs * 1000 + GRACE_MS });
      return loadResultSchema.parse(JSON.parse(stdout));
    },
  };
}

/** The command line for one job. */
export function argumentsOf(job: LoadJob): string[] {
  const args = ['-p', String(job.port), '-d', job.questionFile, '-l', String(job.secs)];
  args.push('-w', String(job.window), '-c', String(job.sockets));
  if (job.clients !== undefined) args.push('-a', String(job.clients));
  if (job.rateQps !== undefined) args.push('-Q', String(job.rateQps));
  if (job.passes !== undefined) args.push('-n', String(job.passes));
  if (job.firstSerial !== undefined) args.push('-u', String(job.firstSerial));
  if (job.check) args.push('-k');
  return args;
}
