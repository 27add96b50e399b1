import { describe, expect, test } from '@jest/globals';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { InFlight } from './in-flight.ts';

describe('InFlight, identical queries that share an upstream query,', () => {
  test('join() is true only for the first caller with a key; settle() calls every caller once', () => {
    const table = new InFlight<number>(new MemoryLogger());
    const outcomes: string[] = [];
    expect(table.join('a', (n) => outcomes.push(`1:${String(n)}`))).toBe(true);
    expect(table.join('a', (n) => outcomes.push(`2:${String(n)}`))).toBe(false);
    expect(table.join('b', (n) => outcomes.push(`3:${String(n)}`))).toBe(true);
    expect(table.questions).toBe(2);
    table.settle('a', 7);
    table.settle('a', 8);
    expect(outcomes).toEqual(['1:7', '2:7']);
    expect(table.questions).toBe(1);
  });

  test('admits() accepts 8,192 callers for one query, while callers of other queries can still wait', () => {
    const table = new InFlight<number>(new MemoryLogger());
    for (let i = 0; i < 8192; i++) {
      expect(table.admits('a')).toBe(true);
      table.join('a', () => undefined);
    }
    expect(table.admits('a')).toBe(false);
    expect(table.admits('b')).toBe(true);
    table.settle('a', 1);
    expect(table.admits('a')).toBe(true);
  });

  test('settle() allows a waiting caller to start the same query again', () => {
    const table = new InFlight<number>(new MemoryLogger());
    const first: boolean[] = [];
    table.join('a', () => first.push(table.join('a', () => undefined)));
    table.settle('a', 1);
    expect(first).toEqual([true]);
  });

  test('settle() calls the remaining waiting callers even if one throws, and logs the error', () => {
    const logger = new MemoryLogger();
    const table = new InFlight<number>(logger);
    const outcomes: number[] = [];
    table.join('a', () => {
      throw new Error('no such client');
    });
    table.join('a', (n) => outcomes.push(n));
    table.settle('a', 1);
    expect(outcomes).toEqual([1]);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { error: 'no such client' } }]);
  });
});
