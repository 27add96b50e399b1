// dnsperf as the generator if there is no C compiler. It reaches about 185,000 queries per second, reports no
// quantiles, cannot write serial numbers and verifies nothing. The missing figures are left out, not estimated.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { parseQuestions, formatQuestions } from '../material/asked-question.ts';
import { stampQuestions } from '../material/question-mix.ts';
import { pinned } from '../process/child.ts';
import type { LoadGenerator, LoadJob, LoadResult } from './load.ts';

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const UNIQUE_QUESTIONS_PER_SEC = 100_000;

/** A generator that runs dnsperf on `core`. */
export function dnsperfLoad(program: string, cores: readonly number[]): LoadGenerator {
  return {
    name: 'dnsperf',
    run: async (job) => {
      const { command, args } = pinned(
        { command: program, args: argumentsOf(job, questionFile(job)) },
        cores,
      );
      const { stdout } = await promisify(execFile)(command, args, { timeout: (job.secs + 30) * 1000 });
      return parseDnsperf(stdout);
    },
  };
}

function argumentsOf(job: LoadJob, file: string): string[] {
  const args = ['-s', '127.0.0.1', '-p', String(job.port), '-d', file, '-l', String(job.secs), '-t', '1'];
  args.push('-q', String(job.window), '-c', String(job.sockets), '-T', '1');
  if (job.rateQps !== undefined) args.push('-Q', String(job.rateQps));
  if (job.passes !== undefined) args.push('-n', String(job.passes));
  return args;
}

/** The file of the job; for unique names, a copy that contains the serial numbers. */
function questionFile(job: LoadJob): string {
  if (job.firstSerial === undefined) return job.questionFile;
  const questions = parseQuestions(readFileSync(job.questionFile, 'utf8'));
  const count = Math.ceil(job.secs * UNIQUE_QUESTIONS_PER_SEC);
  const file = `${job.questionFile}.stamped`;
  writeFileSync(file, formatQuestions(stampQuestions(questions, job.firstSerial, count)));
  return file;
}

/** Parses dnsperf's closing statistics; throws if there are none. */
export function parseDnsperf(text: string): LoadResult {
  const figure = (name: string): number => {
    const found = new RegExp(`${name}:\\s+([0-9.]+)`).exec(text)?.[1];
    if (found === undefined) throw new Error(`read dnsperf output: no "${name}" in ${JSON.stringify(text)}`);
    return Number(found);
  };
  const rcodes: Record<string, number> = {};
  for (const [rcode, name] of RCODES.entries()) {
    const count = new RegExp(`\\b${name} (\\d+)`).exec(text)?.[1];
    if (count !== undefined) rcodes[String(rcode)] = Number(count);
  }
  return {
    elapsedSecs: figure('Run time \\(s\\)'),
    sent: figure('Queries sent'),
    answered: figure('Queries completed'),
    lost: figure('Queries lost'),
    rcodes,
  };
}
