/** Earlier findings stay fixed, and the properties hold for a few thousand new inputs, which WEIR_TEST_SEED selects. */
import { describe, expect, test } from '@jest/globals';
import { readInputs } from './corpus.ts';
import { Random } from './seeded-random.ts';
import { mutate } from './mutate.ts';
import { octetsOf } from './target.ts';
import { loadTarget, TARGETS } from './targets.ts';

/** Number of new inputs per target, and per slow target. */
const MUTANTS = 1500;
const MUTANTS_OF_SLOW = 150;
const seed = Number(process.env['WEIR_TEST_SEED'] ?? 1);

describe('fuzzing targets', () => {
  test.each(Object.keys(TARGETS))('%s holds for its corpus, past findings and new inputs', async (name) => {
    const target = await loadTarget(name);
    const inputs = [...target.seeds(), ...readInputs('corpus', name), ...readInputs('findings', name)];
    const random = new Random(seed);
    const material = {
      dictionary: (target.dictionary ?? []).map((word) => (typeof word === 'string' ? octetsOf(word) : word)),
      maxLength: target.maxLength,
      other: () => random.of(inputs),
    };
    const holds = async (input: Uint8Array): Promise<void> => {
      try {
        await target.run(input.slice());
      } catch (error) {
        const text = Buffer.from(input).toString('base64');
        throw new Error(`seed ${String(seed)}, input ${text}`, { cause: error });
      }
    };
    for (const input of inputs) await holds(input);
    for (let left = target.isSlow === true ? MUTANTS_OF_SLOW : MUTANTS; left > 0; left--)
      await holds(mutate(random.of(inputs), random, material));
    expect(inputs.length).toBeGreaterThan(0);
  });
});
