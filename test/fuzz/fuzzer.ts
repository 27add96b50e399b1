/**
 * The search: mutates inputs of the corpus and keeps those that take a new path through the code, or a known path a new
 * number of times. Deterministic except for random numbers in the code under test. `fuzz-thread.ts` provides time and
 * counters, `limits.ts` the limits.
 */
import { mutate } from './mutate.ts';
import { Random } from './seeded-random.ts';
import type { Target } from './target.ts';
import type { Limits } from './limits.ts';

/** Coverage counters, as `instrument.ts` provides them. */
export interface Counters {
  readonly counters: Uint8Array;
  readonly used: number;
}

/** An input that violates a property. */
export interface Finding {
  readonly input: Uint8Array;
  /** Identity of a fault: the error and its location. */
  readonly key: string;
  readonly text: string;
}

export interface FuzzerParts {
  readonly target: Target;
  readonly counters: Counters;
  readonly dictionary: readonly Uint8Array[];
  readonly seed: number;
  readonly limits: Limits;
  /** Called before each run, to record the input in case the run does not end. */
  readonly begin: (input: Uint8Array) => void;
  readonly found: (finding: Finding) => void;
  readonly kept: (input: Uint8Array) => void;
}

/** Limits for trimming a stored input or a finding: runs, and milliseconds of CPU time. */
const TRIM_RUNS = 200;
const TRIM_MS = 1000;
/** CPU time above which an input counts as slow; slow inputs are mutated an eighth as often as other inputs. */
const SLOW_MS = 10;
/** Number of newest inputs, which are mutated more often than older inputs. */
const NEWEST = 16;
/** Classes of the number of times that a path was taken: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, more. */
const KIND = Uint8Array.from({ length: 256 }, (_, times) => {
  if (times <= 3) return times === 0 ? 0 : 1 << (times - 1);
  const bounds = [8, 16, 32, 128, 256];
  return 1 << (3 + bounds.findIndex((bound) => times < bound));
});

/** A search over one target. */
export class Fuzzer {
  readonly corpus: Uint8Array[] = [];
  /** Slow inputs. */
  private readonly slow = new Set<Uint8Array>();
  executions = 0;
  private readonly parts: FuzzerParts;
  private readonly random: Random;
  /** For each path, the classes that inputs have reached so far. */
  private readonly seen: Uint8Array;
  private readonly words: Uint32Array;
  private readonly keys = new Set<string>();

  constructor(parts: FuzzerParts) {
    this.parts = parts;
    this.random = new Random(parts.seed);
    const { counters } = parts.counters;
    this.seen = new Uint8Array(counters.length);
    this.words = new Uint32Array(counters.buffer, 0, counters.length / 4);
  }

  /** Number of paths taken. */
  get paths(): number {
    return this.seen.reduce((sum, kinds) => sum + (kinds === 0 ? 0 : 1), 0);
  }

  /** Runs an input and keeps it if it takes a new path. */
  async add(input: Uint8Array): Promise<void> {
    if ((await this.run(input)) && this.takeNew(this.seen)) this.keep(input);
  }

  /** Mutates inputs until `isOver`, which is called periodically. */
  async search(isOver: () => boolean): Promise<void> {
    const { target, dictionary } = this.parts;
    const { random, corpus } = this;
    const material = { dictionary, maxLength: target.maxLength, other: () => this.pick() };
    if (corpus.length === 0) this.keep(new Uint8Array(0));
    while (!isOver()) {
      for (let i = 0; i < 100; i++) {
        const input = mutate(this.pick(), random, material);
        if (!(await this.run(input)) || !this.isNew()) continue;
        const trimmed = await this.trimmed(input);
        if ((await this.run(trimmed)) && this.takeNew(this.seen)) this.keep(trimmed);
      }
    }
  }

  /** The smallest inputs of the corpus that together take all its paths. */
  async smallest(): Promise<Uint8Array[]> {
    const seen = new Uint8Array(this.seen.length);
    const chosen: Uint8Array[] = [];
    for (const input of this.corpus.toSorted((a, b) => a.length - b.length))
      if ((await this.run(input)) && this.takeNew(seen)) chosen.push(input);
    return chosen;
  }

  private keep(input: Uint8Array): void {
    this.corpus.push(input);
    if (this.parts.limits.takenMs() > SLOW_MS) this.slow.add(input);
    this.parts.kept(input);
  }

  private pick(): Uint8Array {
    const { corpus, random } = this;
    const isNewest = random.once(3);
    const from = isNewest ? Math.max(0, corpus.length - NEWEST) : 0;
    const picked = corpus[from + random.below(corpus.length - from)]!;
    return this.slow.has(picked) && !random.once(8) ? corpus[random.below(corpus.length)]! : picked;
  }

  /** Runs one input; if this is a finding, reports it and returns false. */
  private async run(input: Uint8Array): Promise<boolean> {
    const finding = await this.tried(input);
    if (finding === null) return true;
    if (this.keys.has(finding.key)) return false;
    this.keys.add(finding.key);
    this.parts.found(await this.shrunk(finding));
    return false;
  }

  private async tried(input: Uint8Array): Promise<Finding | null> {
    const { target, counters, limits, begin } = this.parts;
    begin(input);
    this.executions++;
    // A copy, because the target may change its input.
    const copy = input.slice();
    counters.counters.fill(0, 0, counters.used);
    limits.begin();
    try {
      const running = target.run(copy);
      if (running !== undefined) await running;
    } catch (error) {
      return { input, ...reported(error) };
    }
    const outcome = limits.exceeded(() => target.run(input.slice()));
    const excess = outcome instanceof Promise ? await outcome : outcome;
    return excess === null ? null : { input, key: excess.key, text: excess.text };
  }

  /** The finding, shrunk. */
  private async shrunk(finding: Finding): Promise<Finding> {
    // A finding that exceeds the limits is not shrunk, because each run takes long.
    if (finding.key.startsWith('limit')) return finding;
    let best = finding;
    await shrink(finding.input, async (smaller) => {
      const again = await this.tried(smaller);
      if (again?.key !== finding.key) return false;
      best = again;
      return true;
    });
    return best;
  }

  /** A shrunk input that takes the same new paths as `input`. */
  private async trimmed(input: Uint8Array): Promise<Uint8Array> {
    const wanted = this.newKinds();
    let leftMs = TRIM_MS;
    return shrink(input, async (smaller) => {
      if (leftMs <= 0) return false;
      leftMs -= this.parts.limits.takenMs();
      if ((await this.tried(smaller)) !== null) return false;
      return wanted.every(([path, kind]) => KIND[this.parts.counters.counters[path]!] === kind);
    });
  }

  private newKinds(): [path: number, kind: number][] {
    const { counters, used } = this.parts.counters;
    const kinds: [number, number][] = [];
    for (let path = 0; path < used; path++) {
      const kind = KIND[counters[path]!]!;
      if ((kind & ~this.seen[path]!) !== 0) kinds.push([path, kind]);
    }
    return kinds;
  }

  private isNew(): boolean {
    const { counters, used } = this.parts.counters;
    const { seen, words } = this;
    for (let word = 0; word << 2 < used; word++) {
      if (words[word] === 0) continue;
      for (let path = word << 2; path < (word << 2) + 4; path++)
        if ((KIND[counters[path]!]! & ~seen[path]!) !== 0) return true;
    }
    return false;
  }

  /** Adds the paths of the last run to `seen`; returns whether any of them is new. */
  private takeNew(seen: Uint8Array): boolean {
    const { counters, used } = this.parts.counters;
    let isNew = false;
    for (let path = 0; path < used; path++) {
      const kind = KIND[counters[path]!]!;
      if ((kind & ~seen[path]!) === 0) continue;
      seen[path]! |= kind;
      isNew = true;
    }
    return isNew;
  }
}

/** Removes blocks, large ones first, as long as `isSame` accepts the result. */
async function shrink(
  input: Uint8Array,
  isSame: (smaller: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  let best = input;
  let left = TRIM_RUNS;
  for (let size = best.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at + size <= best.length && left > 0; left--) {
      const smaller = new Uint8Array(best.length - size);
      smaller.set(best.subarray(0, at));
      smaller.set(best.subarray(at + size), at);
      if (await isSame(smaller)) best = smaller;
      else at += size;
    }
  }
  return best;
}

/** The error, its place, and its full message. */
function reported(error: unknown): { key: string; text: string } {
  if (!(error instanceof Error)) return { key: String(error), text: String(error) };
  const text = error.stack ?? String(error);
  const place = /\((?:file:\/\/)?[^)]*?((?:config|shared|dns-worker|control-plane|test)\/[^):]+:\d+)/u.exec(
    text,
  );
  const what = error.name === 'Violation' ? error.message.slice(0, 60) : '';
  return { key: `${error.name} ${what} ${place?.[1] ?? ''}`, text };
}
