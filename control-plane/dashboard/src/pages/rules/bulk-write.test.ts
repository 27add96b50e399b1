import { describe, expect, test } from '@jest/globals';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import type { Problem } from '../../../../../shared/api/problem-details.ts';
import { canUndo, MAX_AT_ONCE, NOTHING, writeAll } from './bulk-write.ts';
import type { Written } from './bulk-write.ts';

function refusal(status: number, places: readonly number[] = []): ApiFailure {
  const errors = places.map((place) => ({ path: `create.${place}.domain`, message: 'exists' }));
  const problem = { status, detail: 'refused', error: 'conflict', errors } as unknown as Problem;
  return new ApiFailure('POST /managed-domains/bulk', new Response(null, { status }), problem);
}

const names = (count: number): string[] => Array.from({ length: count }, (_, place) => `n${place}.example`);

/** The outcome, and the number of rules in each request. */
async function written(count: number, answers: readonly (number | Error)[]): Promise<[Written, number[]]> {
  const asked: number[] = [];
  const end = await writeAll(names(count), (domains) => {
    const answer = answers[asked.push(domains.length) - 1]!;
    return typeof answer === 'number' ? Promise.resolve(answer) : Promise.reject(answer);
  });
  return [end, asked];
}

describe('writeAll(), which creates many rules,', () => {
  test('writes all rules with one request', async () => {
    const [end, asked] = await written(4, [7]);
    expect(asked).toEqual([4]);
    expect(end).toEqual({ added: 4, there: 0, revisions: [7], failed: null });
    expect(canUndo(end)).toBe(true);
  });

  test('sends several requests if one cannot contain all rules', async () => {
    const [end, asked] = await written(2 * MAX_AT_ONCE + 1, [7, 8, 9]);
    expect(asked).toEqual([MAX_AT_ONCE, MAX_AT_ONCE, 1]);
    expect(end).toMatchObject({ added: 2 * MAX_AT_ONCE + 1, revisions: [7, 8, 9] });
    expect(canUndo(end)).toBe(true);
  });

  test('repeats the request without the rules that already exist', async () => {
    const [end, asked] = await written(4, [refusal(409, [0, 2]), 7]);
    expect(asked).toEqual([4, 2]);
    expect(end).toEqual({ added: 2, there: 2, revisions: [7], failed: null });
    expect((await written(1, [refusal(409, [0])]))[0]).toMatchObject({ added: 0, there: 1, failed: null });
  });

  test('stops at the first failed request and reports the number of remaining rules', async () => {
    const error = refusal(503);
    const [end, asked] = await written(MAX_AT_ONCE + 5, [7, error]);
    expect(asked).toEqual([MAX_AT_ONCE, 5]);
    expect(end).toMatchObject({ added: MAX_AT_ONCE, failed: { count: 5, error } });
    expect((await written(2, [refusal(409)]))[0].failed?.count).toBe(2);
  });
});

describe('canUndo() after writing rules', () => {
  test('is false if there was another change in the meantime, or if no rule was written', () => {
    expect(canUndo({ ...NOTHING, added: 2, revisions: [3, 5] })).toBe(false);
    expect(canUndo(NOTHING)).toBe(false);
  });
});
