/** Tests the clock of a node before and after a time server has set it, with a real file. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { ClockFloor, TIME_FILE } from './clock-floor.ts';
import { type KernelClock, kernelClockOf, kernelClockReader } from './kernel-clock.ts';
import { RELEASE_DATE } from './release-date.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RELEASE_MS = Date.parse(RELEASE_DATE);

let dataDir: string;
let clock: TestClock;
let kernel: KernelClock;
let logger: MemoryLogger;
let lowered: number;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-clock-'));
  clock = new TestClock();
  kernel = 'unsynchronised';
  logger = new MemoryLogger();
  lowered = 0;
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

async function started(wallMs: number): Promise<ClockFloor> {
  clock.wallMs = wallMs;
  const floor = await ClockFloor.open({ dataDir, clock, kernelClock: () => kernel, logger });
  floor.start(() => lowered++);
  await floor.check();
  return floor;
}

const stored = (): string => readFileSync(join(dataDir, TIME_FILE), 'utf8');
const messages = (): string[] => logger.lines.map(({ message }) => message);

describe('ClockFloor', () => {
  test('reports a clock as wrong while it is behind the release date, until the clock is set', async () => {
    const floor = await started(Date.UTC(2020, 0, 1));
    expect([floor.isWrong, floor.earliestMs]).toEqual([true, RELEASE_MS]);
    expect(floor.trouble()).toContain('the clock shows 2020-01-01T00:00:00.000Z, before');
    clock.wallMs = RELEASE_MS + DAY_MS;
    expect([floor.isWrong, floor.trouble()]).toEqual([false, null]);
    await floor.check();
    await floor.close();
    expect(messages()).toEqual([
      'clock is wrong; DNSSEC ignores the validity periods of signatures until it is set',
      'clock was set; DNSSEC checks validity periods again',
    ]);
  });

  test('reports a clock as wrong while it is behind the last synchronised time', async () => {
    kernel = 'synchronised';
    await (await started(RELEASE_MS + 100 * DAY_MS)).close();
    kernel = 'unsynchronised';
    const floor = await started(RELEASE_MS + DAY_MS);
    expect([floor.isWrong, floor.earliestMs]).toEqual([true, RELEASE_MS + 100 * DAY_MS]);
    await floor.close();
    expect(lowered).toBe(0);
  });

  test.each(['unsynchronised', 'unknown'] as const)(
    'stores no time while the kernel’s clock is %s',
    async (state) => {
      kernel = state;
      await (await started(RELEASE_MS + DAY_MS)).close();
      expect(stored).toThrow('ENOENT');
    },
  );

  test('stores the time once an hour', async () => {
    kernel = 'synchronised';
    const floor = await started(RELEASE_MS + DAY_MS);
    const first = stored();
    clock.advance(HOUR_MS - 1);
    await floor.check();
    expect(stored()).toBe(first);
    clock.advance(1);
    await floor.check();
    expect(Date.parse(stored().trim())).toBe(RELEASE_MS + DAY_MS + HOUR_MS);
    await floor.close();
  });

  test('replaces a stored time that is later than a synchronised clock', async () => {
    writeFileSync(join(dataDir, TIME_FILE), '2099-01-01T00:00:00.000Z\n');
    const floor = await started(RELEASE_MS + DAY_MS);
    expect([floor.isWrong, lowered]).toEqual([true, 0]);
    kernel = 'synchronised';
    await floor.check();
    await floor.close();
    expect([floor.isWrong, lowered]).toEqual([false, 1]);
    expect(Date.parse(stored().trim())).toBe(RELEASE_MS + DAY_MS);
  });

  test('ignores a stored time that is not readable', async () => {
    writeFileSync(join(dataDir, TIME_FILE), 'yesterday');
    const floor = await started(RELEASE_MS + DAY_MS);
    await floor.close();
    expect(floor.earliestMs).toBe(RELEASE_MS);
    expect(messages()).toEqual(['the stored time is unreadable; ignoring it']);
  });
});

test.each([
  [0, '/nonexistent', 'synchronised'],
  [5, import.meta.filename, 'unsynchronised'],
  [-1, import.meta.filename, 'synchronised'],
  [-1, '/nonexistent', 'unknown'],
])('kernelClockOf() of adjtimex(2) = %d and the marker file %s is %s', (state, marker, expected) => {
  expect(kernelClockOf(state, marker)).toBe(expected);
});

describe('kernelClockReader()', () => {
  test('reads the state of this machine’s clock', () => {
    expect(['synchronised', 'unsynchronised', 'unknown']).toContain(kernelClockReader()());
  });
});
