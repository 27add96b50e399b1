/** Tests the keeper with a clock that the test sets, with real files, and with keys as a thread reports them. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../shared/clock.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import type { TrustAnchor, TrustPointKeys } from '../../../shared/dns/trust-anchors.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { ANCHOR_FILE } from './anchor-file.ts';
import { AnchorKeeper } from './anchor-keeper.ts';

const DAY = 86_400_000;
const key = (mark: number): Uint8Array => Uint8Array.from([1, 1, 3, 15, ...Array<number>(32).fill(mark)]);
const ANCHORS: TrustAnchor[] = [{ zone: Uint8Array.of(0), type: RRType.DNSKEY, rdata: key(1) }];

let dataDir: string;
let clock: Clock & { at: number };
let logger: MemoryLogger;
/** Keys of the zone, or an error if no thread responds. */
let zone: TrustPointKeys | null | Error;
let checks: number;
let active: number[][];
let isClockWrong: boolean;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-anchors-'));
  clock = { at: Date.UTC(2025, 0, 11), nowMs: () => clock.at, monotonicMs: () => clock.at };
  logger = new MemoryLogger();
  zone = has(key(1));
  checks = 0;
  active = [];
  isClockWrong = false;
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function has(...rdatas: Uint8Array[]): TrustPointKeys {
  const keys = rdatas.map((rdata) => ({ rdata, isRevoked: (rdata[1]! & 0x80) !== 0 }));
  return { isTrusted: true, keys, originalTtlSecs: 172_800, expiresInSecs: 1_209_600 };
}

const marks = (anchors: readonly TrustAnchor[]): number[] => anchors.map(({ rdata }) => rdata[4]!);

async function started(isFollowing = true): Promise<AnchorKeeper> {
  const keeper = await AnchorKeeper.open({
    ...{ anchors: ANCHORS, isFollowing, dataDir, clock, logger },
    isClockWrong: () => isClockWrong,
  });
  keeper.start({
    observe: () => {
      checks++;
      return zone instanceof Error ? Promise.reject(zone) : Promise.resolve(zone);
    },
    trust: (anchors) => active.push(marks(anchors)),
  });
  if (isFollowing) await keeper.check();
  return keeper;
}

async function restarted(keeper: AnchorKeeper): Promise<AnchorKeeper> {
  await keeper.close();
  return started();
}

describe('AnchorKeeper', () => {
  test('activates a key after the hold-down time, across restarts, and removes a revoked key', async () => {
    zone = has(key(1), key(2));
    let keeper = await started();
    clock.at += 15 * DAY;
    keeper = await restarted(keeper);
    expect(marks(keeper.anchors())).toEqual([1]);
    clock.at += 15 * DAY;
    await keeper.check();
    expect(active.at(-1)).toEqual([1, 2]);
    keeper = await restarted(keeper);
    expect(marks(keeper.anchors())).toEqual([1, 2]);
    zone = has(key(1).with(1, 0x81), key(2));
    clock.at += 2 * DAY;
    await keeper.check();
    expect(active.at(-1)).toEqual([2]);
    keeper = await restarted(keeper);
    expect(marks(keeper.anchors())).toEqual([2]);
    await keeper.close();
    expect(logger.lines.filter(({ message }) => message.includes('changed its state'))).toHaveLength(4);
  });

  test('queries no keys while the clock is wrong', async () => {
    isClockWrong = true;
    const keeper = await started();
    expect(checks).toBe(0);
    isClockWrong = false;
    await keeper.check();
    expect(checks).toBe(1);
    await keeper.close();
  });

  test('queries keys as often as the signatures of the zone require, and hourly after a failed query', async () => {
    const keeper = await started();
    expect(checks).toBe(1);
    clock.at += DAY - 1;
    await keeper.check();
    expect(checks).toBe(1);
    clock.at += 1;
    zone = null;
    await keeper.check();
    expect(checks).toBe(2);
    clock.at += DAY / 24;
    zone = new Error('no thread answered');
    await keeper.check();
    expect(checks).toBe(3);
    expect(logger.text()).toContain('no thread answered');
    clock.at -= 100 * DAY;
    await keeper.check();
    expect(checks).toBe(4);
    await keeper.close();
    expect(marks(keeper.anchors())).toEqual([1]);
  });

  test('logs that no trusted key has signed the keys, and that the last key is revoked', async () => {
    zone = { ...has(key(3)), isTrusted: false };
    const keeper = await started();
    expect(logger.text()).toContain('not signed by a trusted key');
    zone = { ...has(key(1).with(1, 0x81)), isTrusted: false };
    clock.at += DAY;
    await keeper.check();
    expect(active).toEqual([[]]);
    expect(logger.text()).toContain('every trust anchor of a zone is revoked');
    await keeper.close();
  });

  test.each([
    ['cut short', (text: string) => text.slice(0, -40)],
    ['changed', (text: string) => text.replace(' valid ', ' removed ')],
    ['empty', () => ''],
  ])('uses the configured anchors if the file is %s, and writes a valid file', async (_what, damage) => {
    const keeper = await started();
    await keeper.close();
    const file = join(dataDir, ANCHOR_FILE);
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, damage(good));
    const again = await started();
    await again.close();
    expect(logger.text()).toContain('could not read the stored trust anchors');
    expect(marks(again.anchors())).toEqual([1]);
    expect(readFileSync(file, 'utf8')).toBe(good);
  });

  test('activates a key even if it cannot be stored', async () => {
    const keeper = await started();
    rmSync(dataDir, { recursive: true });
    zone = has(key(1).with(1, 0x81), key(2));
    clock.at += DAY;
    await keeper.check();
    expect(active.at(-1)).toEqual([]);
    expect(logger.text()).toContain('could not store trust anchors');
    await keeper.close();
  });

  test('queries no keys if it is disabled, and trusts the configured anchors', async () => {
    const keeper = await started(false);
    await keeper.check();
    await keeper.close();
    expect(checks).toBe(0);
    expect(marks(keeper.anchors())).toEqual([1]);
  });
});
