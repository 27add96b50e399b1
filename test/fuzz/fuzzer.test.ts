import { compileFunction } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { Fuzzer } from './fuzzer.ts';
import type { Finding } from './fuzzer.ts';
import { withCounters } from './instrument.ts';
import { NO_LIMITS } from './limits.ts';
import { mutate } from './mutate.ts';
import { Random } from './seeded-random.ts';
import type { Target } from './target.ts';

const code = (): Parameters<typeof withCounters>[1] => ({
  counters: new Uint8Array(256),
  used: 0,
  words: new Set(),
  numbers: new Set(),
});

/** The function that `text` defines, and its coverage counters. */
function instrumented(text: string): { state: ReturnType<typeof code>; run: (input: Uint8Array) => void } {
  const state = code();
  const source = withCounters(text, state).replace('const __paths = globalThis.weirPaths;', '');
  const make = compileFunction(`${source}; return run;`, ['__paths']) as (
    paths: Uint8Array,
  ) => (input: Uint8Array) => void;
  return { state, run: make(state.counters) };
}

/** Fails for one input in 2 to the 24th; the fuzzer finds this input one path at a time. */
const HIDDEN = `function run(input) {
  if (input[0] !== 0x57) return;
  if (input[1] !== 0x65) return;
  const third = input[2] === 0x69 ? 1 : 0;
  if (third === 1 && input.length > 3) throw new Error('found');
}`;

async function fuzz(seed: number): Promise<{ findings: Finding[]; executions: number; corpus: string[] }> {
  const { state, run } = instrumented(HIDDEN);
  const target: Target = { seeds: () => [], maxLength: 16, run };
  const findings: Finding[] = [];
  const fuzzer = new Fuzzer({
    target,
    counters: state,
    dictionary: [],
    seed,
    limits: NO_LIMITS,
    begin: () => undefined,
    found: (finding) => findings.push(finding),
    kept: () => undefined,
  });
  let rounds = 0;
  await fuzzer.search(() => findings.length > 0 || ++rounds > 5000);
  const corpus = fuzzer.corpus.map((input) => Buffer.from(input).toString('hex'));
  return { findings, executions: fuzzer.executions, corpus };
}

describe('Fuzzer', () => {
  test('search() finds a fault that takes four steps, shrinks its input, and is deterministic for a seed', async () => {
    const first = await fuzz(7);
    expect(first.findings).toHaveLength(1);
    expect(Buffer.from(first.findings[0]!.input).toString('latin1')).toMatch(/^Wei.$/su);
    expect(first.findings[0]!.text).toContain('found');
    expect(await fuzz(7)).toEqual({
      ...first,
      findings: [expect.objectContaining({ input: first.findings[0]!.input })],
    });
  });
});

describe('withCounters(), which instruments code,', () => {
  test('counts function bodies, branches, loops, right operands, and code after an early return', () => {
    const { state, run } = instrumented(`function run(input) {
  const pick = (n) => n > 1 ? 'a' : 'b';
  for (const n of input) if (n === 9) return pick(n); else pick(n);
  switch (input.length) { case 1: return 1 && input[0]; default: return null ?? 2; }
}`);
    const taken = (...input: number[]): string => {
      state.counters.fill(0);
      run(Uint8Array.from(input));
      return [...state.counters.subarray(0, state.used)].join('');
    };
    const all = [taken(), taken(9), taken(1), taken(2, 9), taken(1, 1)];
    expect(new Set(all).size).toBe(all.length);
  });

  test('keeps line numbers, and collects the literals of the code', () => {
    const state = code();
    const text = `import a from 'b';\n\nexport function f(x: 'type'): string {\n  return x ? 'wo' : (x as string) + 4242;\n}\n`;
    const out = withCounters(text, state);
    expect(out.split('\n')).toHaveLength(text.split('\n').length);
    expect([[...state.words], [...state.numbers]]).toEqual([['wo'], [4242]]);
  });
});

describe('mutate(), which changes an input,', () => {
  test('does not change its argument, stays within the maximum length, and changes every byte at some time', () => {
    const random = new Random(3);
    const input = new Uint8Array(24);
    const changed = new Set<number>();
    for (let i = 0; i < 3000; i++) {
      const out = mutate(input, random, {
        dictionary: [Uint8Array.of(1, 2)],
        maxLength: 30,
        other: () => Uint8Array.of(5),
      });
      expect(out.length).toBeLessThanOrEqual(30);
      out.forEach((octet, at) => octet !== 0 && changed.add(at));
    }
    expect(input.every((octet) => octet === 0)).toBe(true);
    expect(changed.size).toBe(30);
  });
});
