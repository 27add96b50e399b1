/** Which questions share an answer, and when work is given up. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SharedAnswers } from './shared-answers.ts';

const ever = new AbortController().signal;

let answers: SharedAnswers;
/** Work that has begun, in order. */
let begun: { resolve: (value: string) => void; reject: (error: Error) => void; signal: AbortSignal }[];
beforeEach(() => {
  jest.useFakeTimers();
  answers = new SharedAnswers();
  begun = [];
});
afterEach(() => {
  jest.useRealTimers();
});

function ask(key: string, signal: AbortSignal = ever): Promise<string> {
  const work = (own: AbortSignal): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    begun.push({ resolve, reject, signal: own });
    return promise;
  };
  return answers.ask(key, work, signal);
}

describe('SharedAnswers', () => {
  test('gives the same answer to equal questions within a second, and to no others', async () => {
    const both = Promise.all([ask('a'), ask('a')]);
    const other = ask('b');
    begun[0]!.resolve('first');
    begun[1]!.resolve('other');
    expect([await both, await other]).toEqual([['first', 'first'], 'other']);
    jest.advanceTimersByTime(999);
    expect(await ask('a')).toBe('first');
    jest.advanceTimersByTime(1);
    const later = ask('a');
    begun[2]!.resolve('second');
    expect(await later).toBe('second');
  });

  test('shares work that takes longer than a second with the questions of its first second only', async () => {
    const first = ask('a');
    jest.advanceTimersByTime(1000);
    const second = ask('a');
    expect(begun).toHaveLength(2);
    begun[1]!.resolve('new');
    begun[0]!.resolve('old');
    expect([await first, await second]).toEqual(['old', 'new']);
    expect(await ask('a')).toBe('new');
  });

  test('gives work up when the last of its questions is given up, and no sooner', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const asked = [ask('a', one.signal), ask('a', other.signal)].map((answer) =>
      expect(answer).rejects.toThrow('gone'),
    );
    one.abort(new Error('gone'));
    await asked[0];
    expect(begun[0]!.signal.aborted).toBe(false);
    other.abort(new Error('gone'));
    await asked[1];
    expect(begun[0]!.signal.aborted).toBe(true);
    const again = ask('a');
    begun[1]!.resolve('again');
    expect(await again).toBe('again');
  });

  test('shares a failure with those that wait for it, and asks again after it', async () => {
    const failed = Promise.all(
      [ask('a'), ask('a')].map((answer) => expect(answer).rejects.toThrow('no room')),
    );
    begun[0]!.reject(new Error('no room'));
    await failed;
    const again = ask('a');
    begun[1]!.resolve('again');
    expect(await again).toBe('again');
  });
});
