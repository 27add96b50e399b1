import { beforeEach, describe, expect, test } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { LogRingWriter } from '../../../dns-worker/report/log-ring.ts';
import { LogRing, logRingBytes } from '../../../shared/query-log.ts';
import { answeredQuery } from '../../../test/support/parts/answered-query.ts';
import { within } from '../../../test/support/parts/until.ts';
import { LogRingReader } from './log-ring-reader.ts';

const RECORDS = 16;

let buffer: SharedArrayBuffer;
let reader: LogRingReader;
let writer: LogRingWriter;
beforeEach(() => {
  buffer = new SharedArrayBuffer(logRingBytes(RECORDS));
  reader = new LogRingReader(buffer);
  writer = new LogRingWriter(buffer);
});

/** Sends the reader to sleep; resolves when it is woken. */
function sleep(): Promise<void> {
  const woken = new Promise<void>((resolve) => {
    expect(reader.sleep(resolve)).toBe(true);
  });
  return within('the reader to be woken', woken);
}

function log(count: number, into = writer): void {
  for (let i = 0; i < count; i++) into.write(answeredQuery(), 1);
  into.publish(10);
}

function takeAll(): number {
  return reader.drain(Infinity, () => undefined);
}

describe('LogRingReader', () => {
  test('drain() reads every record once, and no more records than requested', () => {
    log(10);
    expect(reader.drain(7, () => undefined)).toBe(7);
    expect(takeAll()).toBe(3);
    expect(takeAll()).toBe(0);
  });

  test('drain() skips an unreadable record', () => {
    log(3);
    let taken = 0;
    const take = (): void => {
      if (++taken === 2) throw new Error('unreadable');
    };
    expect(() => reader.drain(Infinity, take)).toThrow('unreadable');
    expect(takeAll()).toBe(1);
  });

  test('drain() wakes a writer that waits for space', async () => {
    log(5);
    const wait = Atomics.waitAsync(new Int32Array(buffer), LogRing.TAIL_WORD, 0);
    expect(wait.async).toBe(true);
    takeAll();
    expect(await within('the writer to be woken', Promise.resolve(wait.value))).toBe('ok');
  });

  test('drain() calls "begin" after it has counted the records and before it reads the first record', () => {
    log(2);
    const seen: string[] = [];
    const begin = (): void => {
      seen.push('begin');
      log(1);
    };
    reader.drain(Infinity, () => seen.push('record'), begin);
    expect(seen).toEqual(['begin', 'record', 'record']);
  });

  test('sleep() ends each time with the first records that are published', async () => {
    for (let count = 1; count < 2 * RECORDS; count += 5) {
      const woken = sleep();
      log(Math.min(count, RECORDS));
      await woken;
      expect(takeAll()).toBe(Math.min(count, RECORDS));
    }
    expect(reader.dropped()).toBe(0);
  });

  test('sleep() returns false while there are unread records', () => {
    log(1);
    expect(reader.sleep(() => undefined)).toBe(false);
  });

  test('sleep() does not end if no record was published', async () => {
    let wakes = 0;
    reader.sleep(() => wakes++);
    writer.publish(10);
    await setImmediate();
    expect(wakes).toBe(0);
  });

  test('sleep() calls only one callback, however often it is called', async () => {
    let wakes = 0;
    const woken = new Promise<void>((resolve) => {
      for (let i = 0; i < 5; i++)
        reader.sleep(() => {
          wakes++;
          resolve();
        });
    });
    const others = Atomics.notify(new Int32Array(buffer), LogRing.ASLEEP_WORD);
    await within('the reader to be woken', woken);
    await setImmediate();
    expect([others, wakes]).toEqual([1, 1]);
  });

  test('sleep() ends with records of a replacement thread', async () => {
    log(3);
    takeAll();
    const woken = sleep();
    log(2, new LogRingWriter(buffer));
    await woken;
    expect(takeAll()).toBe(2);
  });

  test('sleep(), called again, restores a wake-up that was lost when a thread died', async () => {
    const woken = sleep();
    Atomics.store(new Int32Array(buffer), LogRing.ASLEEP_WORD, 0);
    expect(reader.sleep(() => undefined)).toBe(true);
    log(1, new LogRingWriter(buffer));
    await woken;
    expect(takeAll()).toBe(1);
  });

  test('endSleep() ends the sleep without records', async () => {
    const woken = sleep();
    reader.endSleep();
    await woken;
    expect(takeAll()).toBe(0);
  });
});
