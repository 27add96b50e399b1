import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { until } from '../../test/support/parts/until.ts';
import { ReplacedTables } from './replaced-tables.ts';

describe('ReplacedTables, policy tables that were replaced,', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test('freeRest() checks the size of the heap at most every 5 s', () => {
    jest.useFakeTimers();
    let looks = 0;
    const tables = new ReplacedTables({
      check: () => {
        looks++;
      },
    });
    const looked = [0, 4999, 1, 1, 5000, 0].map((ms) => {
      jest.advanceTimersByTime(ms);
      tables.freeRest();
      return looks;
    });
    expect(looked).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test('freeSoon() frees a table without references', async () => {
    const freed: string[] = [];
    const registry = new FinalizationRegistry((name: string) => freed.push(name));
    const held = { table: new Uint8Array(new SharedArrayBuffer(1 << 20)) };
    registry.register(held.table, 'held');
    // This is a separate function, so that no variable of the test keeps the table alive.
    const replace = (): void => {
      for (let i = 0; i < 10; i++)
        registry.register(new Uint8Array(new SharedArrayBuffer(1 << 20)), `replaced ${String(i)}`);
    };
    replace();
    new ReplacedTables().freeSoon();
    await until(
      'the replaced tables to be freed',
      () => freed,
      (all) => all.length === 10,
    );
    expect(freed).not.toContain('held');
    expect(held.table).toHaveLength(1 << 20);
  });
});
