/** The state table of RFC 5011, and a complete rollover of the root key with a clock that the test sets. */
import { describe, expect, test } from '@jest/globals';
import { keyTag, isAnchorOf } from '../../../shared/dns/dnskey-rdata.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import type { TrustAnchor, TrustPointKeys } from '../../../shared/dns/trust-anchors.ts';
import { activeAnchors, type KeyState, type ManagedKey, observed, refreshDelayMs } from './managed-keys.ts';

const DAY = 86_400_000;
const ROOT = Uint8Array.of(0);
const key = (mark: number): Uint8Array => Uint8Array.from([1, 1, 3, 15, ...Array<number>(32).fill(mark)]);
const revoked = (mark: number): Uint8Array => key(mark).with(1, 0x81);
const [OLD, NEW] = [key(1), key(2)];
const CONFIGURED: TrustAnchor[] = [{ zone: ROOT, type: RRType.DNSKEY, rdata: OLD }];

function seen(rdatas: Uint8Array[], isTrusted = true, originalTtlSecs = 172_800): TrustPointKeys {
  const keys = rdatas.map((rdata) => ({ rdata, isRevoked: (rdata[1]! & 0x80) !== 0 }));
  return { isTrusted, keys, originalTtlSecs, expiresInSecs: 1_209_600 };
}

/** A trust point whose keys change over time. */
class Story {
  nowMs = Date.UTC(2025, 0, 11);
  keys: readonly ManagedKey[] = [];

  after(days: number, rdatas: Uint8Array[], isTrusted = true): string {
    this.nowMs += days * DAY;
    this.keys = observed(this.keys, CONFIGURED, seen(rdatas, isTrusted), this.nowMs).keys;
    return this.keys.map(({ rdata, state }) => `${rdata[4]} ${state}`).join(', ');
  }

  /** First byte of each trusted key, by which the test distinguishes keys. */
  get trusted(): number[] {
    return activeAnchors(ROOT, CONFIGURED, this.keys).map(({ rdata }) => rdata[4]!);
  }
}

describe('observed()', () => {
  test('follows a rollover from the first sight of the new key to the removal of the old one', () => {
    const story = new Story();
    expect(story.after(0, [OLD])).toBe('1 valid');
    expect(story.after(15, [OLD, NEW])).toBe('1 valid, 2 add-pending');
    expect(story.trusted).toEqual([1]);
    expect(story.after(29.9, [OLD, NEW])).toBe('1 valid, 2 add-pending');
    expect(story.trusted).toEqual([1]);
    expect(story.after(0.1, [OLD, NEW])).toBe('1 valid, 2 valid');
    expect(story.trusted).toEqual([1, 2]);
    expect(story.after(600, [NEW])).toBe('1 missing, 2 valid');
    expect(story.trusted).toEqual([1, 2]);
    expect(story.after(1, [OLD, NEW])).toBe('1 valid, 2 valid');
    expect(story.after(90, [revoked(1), NEW])).toBe('1 revoked, 2 valid');
    expect(story.trusted).toEqual([2]);
    expect(story.after(29, [NEW])).toBe('1 revoked, 2 valid');
    expect(story.after(1, [NEW])).toBe('1 removed, 2 valid');
    expect(story.after(1, [OLD, NEW])).toBe('1 removed, 2 valid');
    expect(story.trusted).toEqual([2]);
  });

  test('restarts the hold-down time of a key that was missing for a time', () => {
    const story = new Story();
    story.after(0, [OLD, NEW]);
    expect(story.after(20, [OLD])).toBe('1 valid');
    expect(story.after(1, [OLD, NEW])).toBe('1 valid, 2 add-pending');
    expect(story.after(29, [OLD, NEW])).toBe('1 valid, 2 add-pending');
    expect(story.after(1, [OLD, NEW])).toBe('1 valid, 2 valid');
  });

  test('extends the hold-down time while the old RRset may be cached', () => {
    const { keys } = observed([], CONFIGURED, seen([OLD, NEW], true, 40 * 86_400), 0);
    expect(keys[1]!.trustedFromMs).toBe(40 * DAY);
  });

  test('adds and removes no key if no trusted key has signed the RRset', () => {
    const story = new Story();
    expect(story.after(0, [OLD, NEW], false)).toBe('');
    story.after(0, [OLD, NEW]);
    expect(story.after(31, [key(3)], false)).toBe('1 valid, 2 add-pending');
    expect(story.trusted).toEqual([1]);
  });

  test('removes a key that revokes itself, even if no trusted key has signed the RRset', () => {
    const story = new Story();
    story.after(0, [OLD, NEW]);
    story.after(30, [OLD, NEW]);
    expect(story.after(1, [revoked(1)], false)).toBe('1 revoked, 2 valid');
    expect(story.after(0, [revoked(2)], false)).toBe('1 revoked, 2 revoked');
    expect(story.trusted).toEqual([]);
  });

  test('recognizes that a configured key is already revoked, and ignores other revoked keys', () => {
    expect(new Story().after(0, [revoked(1), revoked(7)], false)).toBe('1 revoked');
  });

  test('trusts a pending key immediately when the configuration contains it', () => {
    const { keys } = observed([], CONFIGURED, seen([OLD, NEW]), 0);
    const both = [...CONFIGURED, { zone: ROOT, type: RRType.DNSKEY, rdata: NEW }];
    expect(observed(keys, both, seen([OLD, NEW]), DAY).keys.map(({ state }) => state)).toEqual([
      'valid',
      'valid',
    ]);
  });

  test('stores at most eight pending keys at a time', () => {
    const many = Array.from({ length: 30 }, (_, i) => key(10 + i));
    const { keys } = observed([], CONFIGURED, seen([OLD, ...many]), 0);
    expect(keys).toHaveLength(9);
  });

  test.each<[KeyState, string, Uint8Array[], KeyState | null]>([
    ['add-pending', 'is away', [], null],
    ['add-pending', 'revokes itself', [revoked(2)], 'revoked'],
    ['valid', 'is away', [], 'missing'],
    ['valid', 'revokes itself', [revoked(2)], 'revoked'],
    ['missing', 'is back', [NEW], 'valid'],
    ['missing', 'revokes itself', [revoked(2)], 'revoked'],
    ['revoked', 'is back', [NEW], 'revoked'],
    ['removed', 'is back', [NEW], 'removed'],
  ])(
    'applies the state table of RFC 5011 section 4.1 to a key in the state %s that %s',
    (state, _what, rdatas, next) => {
      const before: ManagedKey[] = [{ rdata: NEW, state, sinceMs: 0, trustedFromMs: 30 * DAY }];
      const { keys, changes } = observed(before, CONFIGURED, seen([OLD, ...rdatas]), DAY);
      expect(keys.find((it) => it.rdata[4] === 2)?.state ?? null).toBe(next);
      expect(changes.some(({ rdata }) => rdata[4] === 2)).toBe(next !== state);
    },
  );
});

describe('refreshDelayMs()', () => {
  test.each([
    ['half the TTL', { originalTtlSecs: 172_800, expiresInSecs: 1_209_600 }, DAY],
    ['half the signature’s time', { originalTtlSecs: 1_209_600, expiresInSecs: 172_800 }, DAY],
    ['15 days at most', { originalTtlSecs: 9_999_999, expiresInSecs: 9_999_999 }, 15 * DAY],
    ['an hour at least', { originalTtlSecs: 60, expiresInSecs: 60 }, DAY / 24],
    ['an hour if nothing is trusted', { isTrusted: false }, DAY / 24],
  ])('is %s (RFC 5011 section 2.3)', (_what, rest, delayMs) => {
    expect(refreshDelayMs({ ...seen([OLD]), ...rest })).toBe(delayMs);
  });

  test('is an hour if the query failed', () => {
    expect(refreshDelayMs(null)).toBe(DAY / 24);
  });
});

describe('isAnchorOf()', () => {
  test('recognizes the root key by the digest of its DS record, and a revoked key by its changed key tag', () => {
    const kskOf2017 = Buffer.from(
      'AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3+/4RgWOq7HrxRixHlFlExOLAJr5emLvN7SWXgnLh4+B5xQlNVz8Og8kvArMtNROxVQuCaSnIDdD5LKyWbRd2n9WGe2R8PzgCmr3EgVLrjyBxWezF0jLHwVN8efS3rCj/EWgvIWgb9tarpVUDK/b58Da+sqqls3eNbuv7pr+eoZG+SrDK6nWeL3c6H5Apxz7LjVc1uTIdsIXxuOLYA4/ilBmSVIzuDWfdRUfhHdY6+cn8HFRm+2hM8AnXGXws9555KrUB5qihylGa8subX2Nn6UwNR1AkUTV74bU=',
      'base64',
    );
    const rdata = Uint8Array.from([1, 1, 3, 8, ...kskOf2017]);
    const ds = Buffer.from('4f660802E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D', 'hex');
    expect(keyTag(rdata)).toBe(20326);
    expect(keyTag(rdata.with(1, 0x81))).toBe(20454);
    const anchor = { zone: ROOT, type: RRType.DS, rdata: ds };
    expect(isAnchorOf(anchor, rdata)).toBe(true);
    expect(isAnchorOf(anchor, rdata.with(1, 0x81))).toBe(false);
    expect(isAnchorOf({ ...anchor, rdata: ds.fill(9, 3, 4) }, rdata)).toBe(false);
  });
});
