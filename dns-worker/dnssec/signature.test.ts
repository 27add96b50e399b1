/** The published examples of every algorithm, and the complete zone of RFC 4035, verified by `proveSet`. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { KEYS, ZONE } from '../../test/support/dns/rfc4035-zone.ts';
import { readRecords, signedSets } from '../../test/support/dns/record-text.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { ExtendedError } from '../../shared/dns/iana.ts';
import type { SignedRRset } from './answer-records.ts';
import { Budget } from './budget.ts';
import { digestMatches, Dnskey, readDs } from './dnskey.ts';
import { proveSet, signedData } from './signature.ts';
import { isSignedBy } from './verify.ts';

/** Examples of RFC 5702 section 6, RFC 6605 section 6, and RFC 8080 section 6 with the signatures of erratum 4935. */
const EXAMPLES: [string, number, string, string, string | null][] = [
  [
    'RSASHA256',
    9033,
    'example.net. 3600 DNSKEY 256 3 8 AwEAAcFcGsaxxdgiuuGmCkVImy4h99CqT7jwY3pexPGcnUFtR2Fh36BponcwtkZ4cAgtvd4Qs8PkxUdp6p/DlUmObdk=',
    `www.example.net. 3600 A 192.0.2.91
     www.example.net. 3600 RRSIG A 8 3 3600 20300101000000 20000101000000 9033 example.net. kRCOH6u7l0QGy9qpC9l1sLncJcOKFLJ7GhiUOibu4teYp5VE9RncriShZNz85mwlMgNEacFYK/lPtPiVYP4bwg==`,
    null,
  ],
  [
    'RSASHA512',
    3740,
    'example.net. 3600 DNSKEY 256 3 10 AwEAAdHoNTOW+et86KuJOWRDp1pndvwb6Y83nSVXXyLA3DLroROUkN6X0O6pnWnjJQujX/AyhqFDxj13tOnD9u/1kTg7cV6rklMrZDtJCQ5PCl/D7QNPsgVsMu1J2Q8gpMpztNFLpPBz1bWXjDtaR7ZQBlZ3PFY12ZTSncorffcGmhOL',
    `www.example.net. 3600 A 192.0.2.91
     www.example.net. 3600 RRSIG A 10 3 3600 20300101000000 20000101000000 3740 example.net. tsb4wnjRUDnB1BUi+t6TMTXThjVnG+eCkWqjvvjhzQL1d0YRoOe0CbxrVDYd0xDtsuJRaeUw1ep94PzEWzr0iGYgZBWm/zpq+9fOuagYJRfDqfReKBzMweOLDiNa8iP5g9vMhpuv6OPlvpXwm9Sa9ZXIbNl1MBGk0fthPgxdDLw=`,
    null,
  ],
  [
    'ECDSAP256SHA256',
    55648,
    'example.net. 3600 DNSKEY 257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==',
    `www.example.net. 3600 A 192.0.2.1
     www.example.net. 3600 RRSIG A 13 3 3600 20100909100439 20100812100439 55648 example.net. qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==`,
    'example.net. 3600 DS 55648 13 2 b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17',
  ],
  [
    'ECDSAP384SHA384',
    10771,
    'example.net. 3600 DNSKEY 257 3 14 xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40',
    `www.example.net. 3600 A 192.0.2.1
     www.example.net. 3600 RRSIG A 14 3 3600 20100909102025 20100812102025 10771 example.net. /L5hDKIvGDyI1fcARX3z65qrmPsVz73QD1Mr5CEqOiLP95hxQouuroGCeZOvzFaxsT8Glr74hbavRKayJNuydCuzWTSSPdz7wnqXL5bdcJzusdnI0RSMROxxwGipWcJm`,
    'example.net. 3600 DS 10771 14 4 72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df983d6',
  ],
  [
    'ED25519',
    3613,
    'example.com. 3600 DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=',
    `example.com. 3600 MX 10 mail.example.com.
     example.com. 3600 RRSIG MX 15 2 3600 1440021600 1438207200 3613 example.com. oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg==`,
    'example.com. 3600 DS 3613 15 2 3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964ab55c78e79a304b',
  ],
  [
    'ED25519, second example',
    35217,
    'example.com. 3600 DNSKEY 257 3 15 zPnZ/QwEe7S8C5SPz2OfS5RR40ATk2/rYnE9xHIEijs=',
    `example.com. 3600 MX 10 mail.example.com.
     example.com. 3600 RRSIG MX 15 2 3600 1440021600 1438207200 35217 example.com. zXQ0bkYgQTEFyfLyi9QoiY6D8ZdYo4wyUhVioYZXFdT410QPRITQSqJSnzQoSm5poJ7gD7AQR0O7KuI5k2pcBg==`,
    'example.com. 3600 DS 35217 15 2 401781b934e392de492ec77ae2e15d70f6575a1c0bc59c5275c04ebe80c6614c',
  ],
  [
    'ED448',
    9713,
    'example.com. 3600 DNSKEY 257 3 16 3kgROaDjrh0H2iuixWBrc8g2EpBBLCdGzHmn+G2MpTPhpj/OiBVHHSfPodx1FYYUcJKm1MDpJtIA',
    `example.com. 3600 MX 10 mail.example.com.
     example.com. 3600 RRSIG MX 16 2 3600 1440021600 1438207200 9713 example.com. 3cPAHkmlnxcDHMyg7vFC34l0blBhuG1qpwLmjInI8w1CMB29FkEAIJUA0amxWndkmnBZ6SKiwZSAxGILn/NBtOXft0+Gj7FSvOKxE/07+4RQvE581N3Aj/JtIyaiYVdnYtyMWbSNyGEY2213WKsJlwEA`,
    'example.com. 3600 DS 9713 16 2 6ccf18d5bc5d7fc2fceb1d59d17321402f2aa8d368048db93dd811f5cb2b19c7',
  ],
  [
    'ED448, second example',
    38353,
    'example.com. 3600 DNSKEY 257 3 16 kkreGWoccSDmUBGAe7+zsbG6ZAFQp+syPmYUurBRQc3tDjeMCJcVMRDmgcNLp5HlHAMy12VoISsA',
    `example.com. 3600 MX 10 mail.example.com.
     example.com. 3600 RRSIG MX 16 2 3600 1440021600 1438207200 38353 example.com. E1/oLjSGIbmLny/4fcgM1z4oL6aqo+izT3urCyHyvEp4Sp8Syg1eI+lJ57CSnZqjJP41O/9l4m0AsQ4f7qI1gVnML8vWWiyW2KXhT9kuAICUSxv5OWbf81Rq7Yu60npabODB0QFPb/rkW3kUZmQ0YQUA`,
    'example.com. 3600 DS 38353 16 2 645ff078b3568f5852b70cb60e8e696cc77b75bfaaffc118cf79cbda1ba28af4',
  ],
];

function keyOf(text: string): Dnskey {
  return Dnskey.read(readRecords(text)[0]!.rdata)!;
}

function setOf(text: string): SignedRRset {
  return signedSets(text)[0]!;
}

describe.each(EXAMPLES)('the published example of %s', (_name, tag, keyText, signed, ds) => {
  const key = keyOf(keyText);
  const set = setOf(signed);
  const zone = { name: readRecords(keyText)[0]!.owner, keys: [key] };
  const rrsig = set.signatures[0]!;

  test('has the published key tag and digest', () => {
    expect(key.tag).toBe(tag);
    if (ds !== null) expect(digestMatches(readDs(readRecords(ds)[0]!.rdata)!, zone.name, key)).toBe(true);
  });

  test('is secure within its validity period', async () => {
    const proof = await proveSet(set, zone, rrsig.inception, new Budget(0));
    expect(proof).toEqual({ kind: 'secure', encloserLabels: -1, ttlSecs: 3600 });
    expect(await proveSet(set, zone, rrsig.expiration - 60, new Budget(0))).toMatchObject({ ttlSecs: 60 });
  });

  test('is bogus for changed data, and bogus outside its validity period unless the clock is known to be wrong', async () => {
    const at = (nowSecs: number | null): ReturnType<typeof proveSet> =>
      proveSet(set, zone, nowSecs, new Budget(0));
    const expired = { kind: 'bogus', extendedError: ExtendedError.SIGNATURE_EXPIRED };
    const daySecs = 86_400;
    expect(await at(rrsig.expiration + daySecs + 1)).toEqual(expired);
    const early = { kind: 'bogus', extendedError: ExtendedError.SIGNATURE_NOT_YET_VALID };
    expect(await at(rrsig.inception - daySecs - 1)).toEqual(early);
    const other = {
      ...set,
      rdatas: set.rdatas.map((rdata) => rdata.map((octet, i) => (i === 3 ? octet ^ 1 : octet))),
    };
    const wrong = { kind: 'bogus', extendedError: ExtendedError.DNSSEC_BOGUS };
    expect(await proveSet(other, zone, rrsig.inception, new Budget(0))).toEqual(wrong);
    expect(await at(null)).toEqual({ kind: 'secure', encloserLabels: -1, ttlSecs: 30 });
    expect(await proveSet(other, zone, null, new Budget(0))).toEqual(wrong);
  });
});

describe('the signed zone of RFC 4035 appendix A', () => {
  const zone = readRecords(KEYS).map(({ rdata }) => Dnskey.read(rdata)!);

  test.each(Object.entries(ZONE))(
    '%s is signed by the keys that its signatures name',
    async (_name, text) => {
      const set = setOf(text);
      for (const rrsig of set.signatures) {
        const key = zone.find(({ tag }) => tag === rrsig.keyTag)!;
        expect(await isSignedBy(key, rrsig, signedData(set, rrsig), new Budget(0))).toBe(true);
        set.rdatas[0]![0]! ^= 1;
        expect(await isSignedBy(key, rrsig, signedData(set, rrsig), new Budget(0))).toBe(false);
        set.rdatas[0]![0]! ^= 1;
      }
    },
  );

  test('*.w.example MX has a signature that is valid for expansions at any name below w.example', async () => {
    const set = setOf(ZONE['*.w.example MX']!.replaceAll('*.w', 'a.z.w'));
    const rrsig = set.signatures[0]!;
    expect(await isSignedBy(zone[0]!, rrsig, signedData(set, rrsig), new Budget(0))).toBe(true);
  });

  test('isSignedBy() verifies in the event loop for 1 ms per turn, then in the thread pool', async () => {
    const [, , keyText, text] = EXAMPLES[4]!;
    const [key, set] = [keyOf(keyText), setOf(text)];
    const rrsig = set.signatures[0]!;
    const check = (): boolean | Promise<boolean> =>
      isSignedBy(key, rrsig, signedData(set, rrsig), new Budget(0));
    await setImmediate();
    expect(check()).toBe(true);
    let result = check();
    for (let checks = 0; result === true && checks < 100_000; checks++) result = check();
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toBe(true);
    await setImmediate();
    expect(check()).toBe(true);
  });

  test('isSignedBy() verifies P-384 signatures in the thread pool', async () => {
    const [, , keyText, text] = EXAMPLES[3]!;
    const set = setOf(text);
    const rrsig = set.signatures[0]!;
    await setImmediate();
    const result = isSignedBy(keyOf(keyText), rrsig, signedData(set, rrsig), new Budget(0));
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toBe(true);
  });

  test('proveSet() ignores RSASHA1 signatures (RFC 9905)', async () => {
    const set = setOf(ZONE['x.w.example MX']!);
    const proof = await proveSet(
      set,
      { name: wireName('example'), keys: zone },
      set.signatures[0]!.inception,
      new Budget(0),
    );
    expect(proof).toEqual({ kind: 'bogus', extendedError: ExtendedError.RRSIGS_MISSING });
  });
});

describe('signedData(), the bytes covered by a signature,', () => {
  const lines = [
    'example. 300 MX 10 B.example.',
    'example. 200 MX 9 c.example.',
    'EXAMPLE. 100 MX 10 a.example.',
  ];
  const rrsig = 'example. 300 RRSIG MX 13 1 3600 2000000000 1000000000 1 eXample. AAAA';

  test('returns the same bytes for any order, letter case, TTL and duplicates (RFC 4034 section 6)', () => {
    const dataOf = (records: string[]): Buffer => {
      const set = setOf([...records, rrsig].join('\n'));
      return signedData(set, set.signatures[0]!);
    };
    const data = dataOf(lines);
    expect(dataOf([...lines].reverse())).toEqual(data);
    expect(dataOf([...lines, lines[0]!])).toEqual(data);
    expect(dataOf(lines.map((line) => line.toLowerCase().replace('mx', 'MX')))).toEqual(data);
    const exchanges = ['a', 'b', 'c'].map((label) => data.indexOf(wireName(`${label}.example`)));
    const order = exchanges
      .map((at, i) => ({ at, label: 'abc'[i] }))
      .sort((x, y) => x.at - y.at)
      .map(({ label }) => label);
    expect(order).toEqual(['c', 'a', 'b']);
  });
});

describe('proveSet() with hostile records', () => {
  const ed25519 = EXAMPLES[4]!;
  const key = keyOf(ed25519[2]);

  test('gives up after 16 failed signatures (CVE-2023-50387)', async () => {
    const set = setOf(ed25519[3]);
    const wrong = { ...set.signatures[0]!, signature: new Uint8Array(64) };
    const flood = { ...set, signatures: [...Array.from({ length: 16 }, () => wrong), set.signatures[0]!] };
    const zone = { name: wireName('example.com'), keys: [key] };
    const budget = new Budget(0);
    expect(await proveSet(flood, zone, wrong.inception, budget)).toMatchObject({ kind: 'bogus' });
    expect(budget.isSpent).toBe(true);
    flood.signatures.shift();
    expect(await proveSet(flood, zone, wrong.inception, new Budget(0))).toMatchObject({ kind: 'secure' });
  });

  test('tries at most four keys with the same tag (KeyTrap, CVE-2023-50387)', async () => {
    const set = setOf(ed25519[3]);
    // Swapping bytes at an even distance does not change the tag.
    const swapped = (i: number): Dnskey => {
      const rdata = key.rdata.slice();
      [rdata[4], rdata[6 + 2 * i]] = [rdata[6 + 2 * i]!, rdata[4]!];
      return Dnskey.read(rdata)!;
    };
    const others = [0, 1, 2, 3].map(swapped);
    expect(others.map(({ tag }) => tag)).toEqual([3613, 3613, 3613, 3613]);
    const prove = (keys: Dnskey[]): ReturnType<typeof proveSet> =>
      proveSet(set, { name: wireName('example.com'), keys }, set.signatures[0]!.inception, new Budget(0));
    expect(await prove([...others.slice(1), key])).toMatchObject({ kind: 'secure' });
    expect(await prove([...others, key])).toMatchObject({ kind: 'bogus' });
  });

  test('moves signature checks to the thread pool after one failed check, so that other queries proceed', async () => {
    const set = setOf(ed25519[3]);
    const wrong = { ...set.signatures[0]!, signature: new Uint8Array(64) };
    const flood = { ...set, signatures: Array.from({ length: 16 }, () => wrong) };
    let turns = 0;
    let turn = globalThis.setImmediate(function next() {
      turns++;
      turn = globalThis.setImmediate(next);
    });
    await proveSet(flood, { name: wireName('example.com'), keys: [key] }, wrong.inception, new Budget(0));
    clearImmediate(turn);
    // Each signature takes at least one turn of the event loop, in which other work runs.
    expect(turns).toBeGreaterThanOrEqual(15);
  });

  test.each([
    ['more labels than the owner', (labels: number) => labels + 1],
    ['fewer labels than its zone', () => 1],
  ])('rejects a signature with %s (CVE-2026-44690, CVE-2026-52688)', async (_what, change) => {
    const set = setOf(ed25519[3]);
    const forged = { ...set, signatures: set.signatures.map((it) => ({ ...it, labels: change(it.labels) })) };
    const proof = await proveSet(
      forged,
      { name: wireName('example.com'), keys: [key] },
      1438207200,
      new Budget(0),
    );
    expect(proof).toEqual({ kind: 'bogus', extendedError: ExtendedError.DNSSEC_BOGUS });
  });

  test.each([
    ['an hour', 600, 3600],
    ['a tenth of the lifetime', 200_000, 20_000],
    ['a day', 9_000_000, 86_400],
  ])('accepts clocks that are wrong by %s', async (_what, lifetimeSecs, skewSecs) => {
    const inception = 1_438_207_200;
    const text = ed25519[3].replace('1440021600 1438207200', `${inception + lifetimeSecs} ${inception}`);
    const zone = { name: wireName('example.com'), keys: [key] };
    const at = async (nowSecs: number): Promise<unknown> =>
      await proveSet(setOf(text), zone, nowSecs, new Budget(0));
    // The example's signature does not cover these validity times, so a check of the signature fails.
    const checked = { extendedError: ExtendedError.DNSSEC_BOGUS };
    expect(await at(inception - skewSecs)).toMatchObject(checked);
    expect(await at(inception + lifetimeSecs + skewSecs)).toMatchObject(checked);
    const early = { extendedError: ExtendedError.SIGNATURE_NOT_YET_VALID };
    expect(await at(inception - skewSecs - 1)).toMatchObject(early);
    const late = { extendedError: ExtendedError.SIGNATURE_EXPIRED };
    expect(await at(inception + lifetimeSecs + skewSecs + 1)).toMatchObject(late);
  });

  test('treats a signature whose expiration is before its inception as expired', async () => {
    const set = setOf(ed25519[3].replace('1440021600 1438207200', '1438207200 1438207300'));
    const zone = { name: wireName('example.com'), keys: [key] };
    const proof = await proveSet(set, zone, 1_438_207_250, new Budget(0));
    expect(proof).toMatchObject({ extendedError: ExtendedError.SIGNATURE_EXPIRED });
  });

  test('compares times in serial number arithmetic, even across the 32-bit overflow', async () => {
    const text = ed25519[3].replace('1440021600 1438207200', '100 4294967200');
    const set = setOf(text);
    const zone = { name: wireName('example.com'), keys: [key] };
    const faultAt = async (nowSecs: number): Promise<unknown> =>
      await proveSet(set, zone, nowSecs, new Budget(0));
    expect(await faultAt(4294967296 + 50 + 3600)).toMatchObject({
      extendedError: ExtendedError.DNSSEC_BOGUS,
    });
    expect(await faultAt(4294967296 + 101 + 3600)).toMatchObject({
      extendedError: ExtendedError.SIGNATURE_EXPIRED,
    });
    expect(await faultAt(4294967199 - 3600)).toMatchObject({
      extendedError: ExtendedError.SIGNATURE_NOT_YET_VALID,
    });
  });
});
