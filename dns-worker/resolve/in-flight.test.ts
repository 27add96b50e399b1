import { describe, expect, test } from '@jest/globals';
import { QuietLogger } from '../../test/fixtures/quiet-logger.ts';
import { InFlight } from './in-flight.ts';

describe('InFlight', () => {
  test('join() is true for the first of a key only; settle() tells them all once', () => {
    const table = new InFlight<number>(new QuietLogger());
    const told: string[] = [];
    expect(table.join('a', (n) => told.push(`1:${String(n)}`))).toBe(true);
    expect(table.join('a', (n) => told.push(`2:${String(n)}`))).toBe(false);
    expect(table.join('b', (n) => told.push(`3:${String(n)}`))).toBe(true);
    expect([table.questions, table.waiters]).toEqual([2, 3]);
    table.settle('a', 7);
    table.settle('a', 8);
    expect(told).toEqual(['1:7', '2:7']);
    expect([table.questions, table.waiters]).toEqual([1, 1]);
  });

  test('settle() lets a waiter ask the same again', () => {
    const table = new InFlight<number>(new QuietLogger());
    const first: boolean[] = [];
    table.join('a', () => first.push(table.join('a', () => undefined)));
    table.settle('a', 1);
    expect(first).toEqual([true]);
  });

  test('settle() tells the others when a waiter throws, and logs it', () => {
    const logger = new QuietLogger();
    const table = new InFlight<number>(logger);
    const told: number[] = [];
    table.join('a', () => {
      throw new Error('no such client');
    });
    table.join('a', (n) => told.push(n));
    table.settle('a', 1);
    expect(told).toEqual([1]);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { error: 'no such client' } }]);
  });
});
