import { describe, expect, test } from '@jest/globals';
import { type UsedCertificate, certificatesCheck } from './certificate-check.ts';
import { clockCheck, nodesCheck, privilegesCheck } from './node-checks.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 28, 12);

describe('certificatesCheck()', () => {
  const used = (leftDays: number, more: Partial<UsedCertificate> = {}): UsedCertificate => ({
    use: 'web',
    notBefore: new Date(NOW_MS - 60 * DAY_MS),
    notAfter: new Date(NOW_MS + leftDays * DAY_MS),
    fault: null,
    ...more,
  });

  test.each([
    [15, undefined],
    [13, 'the certificate of the web server expires in 13 days (2026-12-11)'],
    [1.5, 'the certificate of the web server expires in 1 day (2026-11-30)'],
    [0.5, 'the certificate of the web server expires in less than a day (2026-11-29)'],
    [-1, 'the certificate of the web server expired on 2026-11-27'],
  ])('with %d days left says %s', (days, detail) => {
    const check = certificatesCheck([used(days)], NOW_MS);
    expect(check).toEqual(detail === undefined ? { status: 'ok' } : { status: 'degraded', detail });
  });

  test('warns of a certificate of six days in its last third only', () => {
    const short = (leftDays: number): UsedCertificate =>
      used(leftDays, { notBefore: new Date(NOW_MS + (leftDays - 6) * DAY_MS) });
    expect(certificatesCheck([short(3)], NOW_MS).status).toBe('ok');
    expect(certificatesCheck([short(1.9)], NOW_MS).status).toBe('degraded');
  });

  test('names each certificate whose files cannot be used', () => {
    const faulty = used(300, { use: 'dns', fault: 'this key is not that of the certificate' });
    expect(certificatesCheck([used(300), faulty], NOW_MS)).toEqual({
      status: 'degraded',
      detail:
        'the files of the certificate of encrypted DNS cannot be used: this key is not that of the certificate',
    });
  });
});

describe('nodesCheck()', () => {
  test('names nodes in trouble, and those of another version', () => {
    const inTrouble = [
      { node: 'a', isSilent: true },
      { node: 'b', isSilent: false },
    ];
    const otherVersions = [{ node: 'b', version: '2' }];
    expect(nodesCheck({ inTrouble: [], otherVersions: [], version: '1' })).toEqual({ status: 'ok' });
    expect(nodesCheck({ inTrouble, otherVersions, version: '1' })).toEqual({
      status: 'degraded',
      detail: 'a is silent, b has an older policy, versions differ: b runs 2, this node 1',
    });
  });
});

describe('clockCheck()', () => {
  test.each([
    [null, null, undefined],
    [null, -2000, undefined],
    [null, 2600, 'the clock is 2.6 s ahead of that of the database'],
    [null, -3000, 'the clock is 3.0 s behind that of the database'],
    ['wrong', 3000, 'wrong'],
  ])('with the fault %s and %s ms ahead says %s', (trouble, aheadMs, detail) => {
    const check = clockCheck(trouble, aheadMs);
    expect(check).toEqual(detail === undefined ? { status: 'ok' } : { status: 'degraded', detail });
  });
});

test('privilegesCheck() reports root, and is not degraded by it', () => {
  expect(privilegesCheck(1000)).toEqual({ status: 'ok' });
  expect(privilegesCheck(0)).toMatchObject({ status: 'ok', detail: expect.stringContaining('runs as root') });
});
