/** Tests of the results of waits, and of the errors at their deadlines. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { until, WaitTimeout, within } from './until.ts';

const SOON = { pauseMs: 1, withinMs: 20 };
const never = (): Promise<never> => new Promise(() => undefined);

describe('until()', () => {
  test('returns the first state that the predicate accepts, and reads no further state', async () => {
    let reads = 0;
    expect(
      await until(
        'the third read',
        () => ++reads,
        (state) => state >= 3,
        SOON,
      ),
    ).toBe(3);
    expect(reads).toBe(3);
  });

  test('accepts any truthy state if there is no predicate', async () => {
    const states = [0, '', null, 'there'];
    expect(await until('a truthy state', async () => states.shift())).toBe('there');
  });

  test('reads the state at least once, even if the deadline passes during the read', async () => {
    const slow = (): string => {
      const endMs = performance.now() + 5;
      while (performance.now() < endMs);
      return 'done';
    };
    expect(await until('a slow read', slow, Boolean, { withinMs: 1 })).toBe('done');
  });

  test('fails at its deadline with the name of the event and the last state', async () => {
    const status = { list: 3, status: 'updating' };
    const waiting = until(
      'list 3 to become active',
      () => status,
      () => false,
      SOON,
    );
    await expect(waiting).rejects.toThrow(
      new WaitTimeout('list 3 to become active', SOON.withinMs, { list: 3, status: 'updating' }),
    );
    await expect(waiting).rejects.toThrow(
      "waited 0.02 s for list 3 to become active; last seen: { list: 3, status: 'updating' }",
    );
  });

  test('fails with the previous state if a read does not end', async () => {
    let reads = 0;
    const waiting = until(
      'the answer',
      () => (++reads < 2 ? 'state 1' : never()),
      () => false,
      SOON,
    );
    await expect(waiting).rejects.toThrow('waited 0.02 s for the answer; last seen: state 1');
    await expect(until('a first answer', never, Boolean, SOON)).rejects.toThrow('last seen: nothing');
  });

  test('fails with the error of a read', async () => {
    const broken = (): never => {
      throw new Error('the process ended');
    };
    await expect(until('output', broken)).rejects.toThrow('the process ended');
  });
});

describe('within()', () => {
  test('returns the result of the promise, or throws its error', async () => {
    expect(await within('a result', Promise.resolve(7))).toBe(7);
    await expect(within('a result', Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });

  test('fails at its deadline with the name of the event and the state at that time', async () => {
    let count = 0;
    const waiting = within('the end', never(), { withinMs: 20, lastSeen: () => `${count} replies` });
    count = 5;
    await expect(waiting).rejects.toThrow('waited 0.02 s for the end; last seen: 5 replies');
    await expect(within('the end', never(), { withinMs: 1 })).rejects.toThrow('last seen: nothing');
  });

  test('ignores a rejection after the deadline', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await expect(within('the end', promise, { withinMs: 1 })).rejects.toThrow(WaitTimeout);
    reject(new Error('too late'));
    await sleep(0);
  });
});

describe('WaitTimeout', () => {
  test('contains the end of a long state in its message', () => {
    const { message } = new WaitTimeout('output', 1000, `${'x'.repeat(10_000)}the last line`);
    expect(message).toMatch(/the last line$/);
    expect(message.length).toBeLessThan(2100);
  });
});
