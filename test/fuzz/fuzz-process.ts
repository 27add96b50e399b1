/**
 * Fuzzes one target in a separate process: a thread runs the target, and this process saves the findings. If the thread
 * fails outside a run of the target, runs out of memory or hangs, this is also a finding, and a new thread continues.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { writeCorpus } from './corpus.ts';
import { coreSecs } from './core-secs.ts';
import { CURRENT_HEAD } from './fuzz-thread.ts';
import type { FuzzNews, FuzzOrder } from './fuzz-thread.ts';
import type { Finding } from './fuzzer.ts';

/** Heap limit of the thread, enough for one input and for the search itself. */
const HEAP_MIB = 512;
const MAX_INPUT_SIZE = 1 << 20;
/** CPU seconds after which a run is considered endless. The thread itself enforces the time limit of an input. */
const HUNG_SECS = 30;
const WATCH_MS = 1000;
/** Number of faults after which fuzzing of the target stops. */
const MAX_FINDINGS = 20;

/** Result of a target. */
export interface FuzzFigures {
  readonly executions: number;
  readonly corpus: number;
  readonly paths: number;
  readonly secs: number;
  readonly findings: number;
}

export interface FuzzTask {
  readonly target: string;
  readonly seed: number;
  /** CPU seconds of the process; Infinity if the number of runs is the limit. */
  readonly secs: number;
  /** Number of inputs to run; Infinity if time is the limit. */
  readonly runs: number;
  /** Write the corpus. */
  readonly keep: boolean;
  /** Folder for findings. */
  readonly folder: string;
}

/** Fuzzes until the time limit or the number of runs is reached. */
export async function fuzzTarget(task: FuzzTask, print: (line: string) => void): Promise<FuzzFigures> {
  const startedSecs = coreSecs();
  const secsGone = (): number => coreSecs() - startedSecs;
  const inputs: Uint8Array[] = [];
  const keys = new Set<string>();
  const sum = { executions: 0, corpus: 0, paths: 0 };
  const take = (finding: Finding): void => {
    if (keys.has(finding.key)) return;
    keys.add(finding.key);
    print(`${task.target}: FOUND ${finding.text}\n  ${saved(task, finding)}`);
  };
  for (let turn = 0; ; turn++) {
    const before = sum.executions;
    const current = new SharedArrayBuffer(CURRENT_HEAD + MAX_INPUT_SIZE);
    const order = {
      target: task.target,
      seed: task.seed + turn,
      secs: task.secs - secsGone(),
      runs: task.runs - before,
      inputs,
      current,
    };
    const end = await oneThread(order, (news) => {
      if (news.kind === 'kept') inputs.push(news.input);
      else if (news.kind === 'found') take(news.finding);
      else if (news.kind === 'figures') {
        Object.assign(sum, { ...news, executions: before + news.executions });
        print(line(task.target, sum, secsGone()));
      }
    });
    if ('corpus' in end) {
      if (task.keep) writeCorpus(task.target, end.corpus);
      return { ...sum, corpus: end.corpus.length, secs: secsGone(), findings: keys.size };
    }
    take(end);
    if (secsGone() > task.secs || sum.executions >= task.runs || keys.size >= MAX_FINDINGS)
      return { ...sum, secs: secsGone(), findings: keys.size };
  }
}

/** Runs a thread until it ends; returns the corpus, or the finding that ended the thread. */
async function oneThread(
  order: FuzzOrder,
  report: (news: FuzzNews) => void,
): Promise<{ corpus: readonly Uint8Array[] } | Finding> {
  const worker = new Worker(new URL('./fuzz-thread.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  const { promise, resolve } = Promise.withResolvers<{ corpus: readonly Uint8Array[] } | Finding>();
  const head = new Int32Array(order.current, 0, 2);
  const lost = (key: string, text: string): void => {
    const input = new Uint8Array(order.current, CURRENT_HEAD, head[1]).slice();
    resolve({ input: new Uint8Array(input), key, text });
  };
  let executions = 0;
  let sinceSecs = coreSecs();
  const watch = setInterval(() => {
    const nowSecs = coreSecs();
    if (head[0] !== executions) {
      executions = head[0]!;
      sinceSecs = nowSecs;
    } else if (executions > 0 && nowSecs - sinceSecs > HUNG_SECS)
      lost('hung', `does not end in ${HUNG_SECS} s`);
  }, WATCH_MS);
  worker.on('message', (news: FuzzNews) => {
    if (news.kind === 'over') resolve(news);
    else report(news);
  });
  worker.once('error', (error) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    lost(`ended by ${text.split('\n').slice(0, 2).join(' ')}`, text);
  });
  try {
    return await promise;
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
}

/** Writes a finding to a new file; returns the command that reproduces it. */
function saved({ folder, target }: FuzzTask, { input }: Finding): string {
  mkdirSync(folder, { recursive: true });
  const name = createHash('sha256').update(input).digest('hex').slice(0, 12);
  const path = join(folder, `${target}-${name}.bin`);
  writeFileSync(path, input);
  return `${String(input.length)} bytes; again: npm run fuzz -- ${target} --repeat ${path}`;
}

/** The statistics as a line. */
function line(target: string, sum: Omit<FuzzFigures, 'secs' | 'findings'>, secs: number): string {
  const rate = Math.round(sum.executions / Math.max(secs, 0.001));
  const { executions, corpus, paths } = sum;
  return `${target.padEnd(18)} ${secs.toFixed(0).padStart(5)} s  ${String(executions).padStart(11)} runs  ${String(rate).padStart(7)}/s  ${String(paths).padStart(5)} paths  ${String(corpus).padStart(5)} inputs`;
}
