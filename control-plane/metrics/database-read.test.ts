import { describe, expect, test } from '@jest/globals';
import type { DatabaseStatus } from '../storage/db/database.ts';
import { databaseRead } from './database-read.ts';

const LONG_MS = 60_000;

function databaseIn(state: DatabaseStatus['state']) {
  return { status: () => ({ state, server: 'embedded', error: null }) };
}

describe('databaseRead()', () => {
  test('shares one read between concurrent callers, and reads again for later callers', async () => {
    let reads = 0;
    const read = databaseRead(databaseIn('up'), async () => ++reads, LONG_MS);
    expect(await Promise.all([read(), read()])).toEqual([1, 1]);
    expect(await read()).toBe(2);
  });

  test('returns null without a read while the database is unavailable, and after an error', async () => {
    const read = databaseRead(databaseIn('down'), async () => 1, LONG_MS);
    expect(await read()).toBeNull();
    const failing = databaseRead(databaseIn('up'), () => Promise.reject(new Error('lost')), LONG_MS);
    expect(await failing()).toBeNull();
  });

  test('neither waits for a read that hangs nor starts a second read', async () => {
    let reads = 0;
    let end: (value: number) => void = () => undefined;
    const hanging = () => {
      reads++;
      return new Promise<number>((resolve) => {
        end = resolve;
      });
    };
    const read = databaseRead(databaseIn('up'), hanging, 1);
    expect([await read(), await read()]).toEqual([null, null]);
    expect(reads).toBe(1);
    end(5);
  });
});
