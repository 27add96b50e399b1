/** Entry point of the thread that fuzzes one target; `fuzz-process.ts` watches it. */
import { parentPort, workerData } from 'node:worker_threads';
import { readInputs } from './corpus.ts';
import { coreSecs } from './core-secs.ts';
import { Fuzzer } from './fuzzer.ts';
import type { Finding } from './fuzzer.ts';
import { instrumentProduct } from './instrument.ts';
import { processLimits } from './limits.ts';
import type { Limits } from './limits.ts';
import { octetsOf } from './target.ts';
import { loadTarget } from './targets.ts';

export interface FuzzOrder {
  readonly target: string;
  readonly seed: number;
  /** Limits of the search: CPU seconds of the process, and number of inputs to run. One of the two is finite. */
  readonly secs: number;
  readonly runs: number;
  /** Inputs in addition to the inputs of the repository. */
  readonly inputs: readonly Uint8Array[];
  /** Shared memory with the current state: runs, the input's length, then the input. */
  readonly current: SharedArrayBuffer;
}

/** Messages from the thread. */
export type FuzzNews =
  | { readonly kind: 'kept'; readonly input: Uint8Array }
  | { readonly kind: 'found'; readonly finding: Finding }
  | { readonly kind: 'figures'; readonly executions: number; readonly corpus: number; readonly paths: number }
  | { readonly kind: 'over'; readonly corpus: readonly Uint8Array[] };

/** Bytes before the input in `current`. */
export const CURRENT_HEAD = 8;
const FIGURES_MS = 10_000;

const port = parentPort;
if (port !== null) await fuzz(workerData as FuzzOrder, (news) => port.postMessage(news));

async function fuzz(order: FuzzOrder, report: (news: FuzzNews) => void): Promise<void> {
  const code = instrumentProduct();
  const target = await loadTarget(order.target);
  const head = new Int32Array(order.current, 0, 2);
  const octets = new Uint8Array(order.current, CURRENT_HEAD);
  const fuzzer = new Fuzzer({
    target,
    counters: code,
    dictionary: [
      ...[...code.words].map(octetsOf),
      ...[...code.numbers].map(bigEndian),
      ...(target.dictionary ?? []).map((word) => (typeof word === 'string' ? octetsOf(word) : word)),
    ],
    seed: order.seed,
    limits: limitsOf(order),
    begin: (input) => {
      octets.set(input);
      head[1] = input.length;
      Atomics.add(head, 0, 1);
    },
    found: (finding) => report({ kind: 'found', finding }),
    kept: (input) => report({ kind: 'kept', input }),
  });
  const figures = (): void =>
    report({
      kind: 'figures',
      executions: fuzzer.executions,
      corpus: fuzzer.corpus.length,
      paths: fuzzer.paths,
    });
  const startedSecs = coreSecs();
  for (const input of [
    ...target.seeds(),
    ...readInputs('corpus', order.target),
    ...readInputs('findings', order.target),
    ...order.inputs,
  ])
    await fuzzer.add(input);
  figures();
  let reportedMs = performance.now();
  await fuzzer.search(() => {
    const nowMs = performance.now();
    if (nowMs - reportedMs > FIGURES_MS) {
      figures();
      reportedMs = nowMs;
    }
    return coreSecs() - startedSecs > order.secs || fuzzer.executions >= order.runs;
  });
  figures();
  report({ kind: 'over', corpus: await fuzzer.smallest() });
}

/** A search that is limited by runs never reads the clock, so it runs the same inputs on every machine. */
function limitsOf({ runs }: FuzzOrder): Limits {
  const limits = processLimits();
  return runs === Infinity ? limits : { ...limits, takenMs: () => 0 };
}

/** A number in one, two or four bytes: the shortest form. */
function bigEndian(value: number): Uint8Array {
  const octets = Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
  return octets.slice(value > 0xffff ? 0 : value > 0xff ? 2 : 3);
}
