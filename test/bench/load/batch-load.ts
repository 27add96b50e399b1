// The harness's own generator (`native/dns-load.c`): fast enough to saturate anything on one core.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pinned } from '../process/child.ts';
import type { LoadGenerator, LoadJob } from './load.ts';
import { loadResultSchema } from './load.ts';

/** A generator that runs `program` on `core`. */
export function batchLoad(program: string, core: number): LoadGenerator {
  return {
    name: 'dns-load',
    run: async (job) => {
      const { command, args } = pinned({ command: program, args: argumentsOf(job) }, core);
      const { stdout } = await promisify(execFile)(command, args, { timeout: (job.secs + 30) * 1000 });
      return loadResultSchema.parse(JSON.parse(stdout));
    },
  };
}

/** The command line for one job. */
export function argumentsOf(job: LoadJob): string[] {
  const args = ['-p', String(job.port), '-d', job.questionFile, '-l', String(job.secs)];
  args.push('-w', String(job.window), '-c', String(job.sockets));
  if (job.rateQps !== undefined) args.push('-Q', String(job.rateQps));
  if (job.passes !== undefined) args.push('-n', String(job.passes));
  if (job.firstSerial !== undefined) args.push('-u', String(job.firstSerial));
  if (job.check) args.push('-k');
  return args;
}
