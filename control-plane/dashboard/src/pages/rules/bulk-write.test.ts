import { describe, expect, test } from '@jest/globals';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { canUndo, doneOf, NOTHING, writeAll } from './bulk-write.ts';
import type { Written } from './bulk-write.ts';

const refusal = (status: number): ApiFailure =>
  new ApiFailure('POST /managed-domains', new Response(null, { status }), null);

async function written(answers: readonly (number | Error)[], stopAfter = 100): Promise<[Written, number]> {
  let asked = 0;
  const end = await writeAll(
    answers.map((_, place) => `n${place}.example`),
    () => {
      const answer = answers[asked++]!;
      return typeof answer === 'number' ? Promise.resolve(answer) : Promise.reject(answer);
    },
    { isStopped: () => asked >= stopAfter, onStep: () => undefined },
  );
  return [end, asked];
}

describe('writeAll()', () => {
  test('counts what it wrote, and keeps its revisions', async () => {
    const [end] = await written([7, 8, refusal(409), 9]);
    expect(end).toEqual({ added: 3, there: 1, failed: [], revisions: { first: 7, last: 9 } });
    expect(canUndo(end)).toBe(true);
    expect(doneOf(end)).toBe(4);
  });

  test('goes on after a refusal, and ends where the rest would fail, too', async () => {
    const [end, asked] = await written([7, refusal(400), refusal(503), 8]);
    expect(asked).toBe(3);
    expect(end.failed.map(({ domain }) => domain)).toEqual(['n1.example', 'n2.example']);
  });

  test('stops when it is told to', async () => {
    const [end, asked] = await written([7, 8, 9], 2);
    expect([end.added, asked]).toEqual([2, 2]);
  });
});

describe('canUndo()', () => {
  test('refuses where others changed policy in between, and where nothing was written', () => {
    expect(canUndo({ ...NOTHING, added: 2, revisions: { first: 3, last: 5 } })).toBe(false);
    expect(canUndo(NOTHING)).toBe(false);
  });
});
