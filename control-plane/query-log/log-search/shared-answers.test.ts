/** Which requests share a result, and when work is cancelled. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SharedAnswers } from './shared-answers.ts';

const ever = new AbortController().signal;

let answers: SharedAnswers;
/** Runs that have begun, in order. */
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
  test('returns the same result to equal requests within a second, and separate results to different requests', async () => {
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

  test('lets requests that arrive later than a second into a long run share the next run', async () => {
    const first = ask('a');
    jest.advanceTimersByTime(1000);
    const second = ask('a');
    jest.advanceTimersByTime(5000);
    const third = ask('a');
    expect(begun).toHaveLength(1);
    begun[0]!.resolve('old');
    expect(await first).toBe('old');
    await jest.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(2);
    begun[1]!.resolve('new');
    expect([await second, await third, await ask('a')]).toEqual(['new', 'new', 'new']);
  });

  test('starts the next run when the previous run is aborted or fails', async () => {
    const gone = new AbortController();
    const given = ask('a', gone.signal);
    given.catch(() => undefined);
    jest.advanceTimersByTime(1000);
    const failed = ask('a');
    failed.catch(() => undefined);
    gone.abort(new Error('gone'));
    await expect(given).rejects.toThrow('gone');
    await jest.advanceTimersByTimeAsync(1000);
    const next = ask('a');
    begun[1]!.reject(new Error('no room'));
    await expect(failed).rejects.toThrow('no room');
    await jest.advanceTimersByTimeAsync(0);
    begun[2]!.resolve('next');
    expect(await next).toBe('next');
  });

  test('cancels a run when the last of its requests is cancelled, and not before', async () => {
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

  test('shares a failure with all waiting requests, and starts a new run for later requests', async () => {
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
