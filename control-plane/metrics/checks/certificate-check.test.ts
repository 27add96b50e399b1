import { describe, expect, test } from '@jest/globals';
import { type UsedCertificate, certificatesCheck } from './certificate-check.ts';

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
  ])('with %d days left reports %s', (days, detail) => {
    const check = certificatesCheck([used(days)], NOW_MS);
    expect(check).toEqual(detail === undefined ? { status: 'ok' } : { status: 'degraded', detail });
  });

  test('warns about a certificate with a lifetime of six days only in its last third', () => {
    const short = (leftDays: number): UsedCertificate =>
      used(leftDays, { notBefore: new Date(NOW_MS + (leftDays - 6) * DAY_MS) });
    expect(certificatesCheck([short(3)], NOW_MS).status).toBe('ok');
    expect(certificatesCheck([short(1.9)], NOW_MS).status).toBe('degraded');
  });

  test('reports why a certificate could not be renewed', () => {
    expect(certificatesCheck([used(300, { renewalFault: 'no route' })], NOW_MS)).toEqual({
      status: 'degraded',
      detail: 'the certificate of the web server could not be renewed: no route',
    });
  });

  test('names each certificate whose files are unusable', () => {
    const faulty = used(300, { use: 'dns', fault: 'this key does not belong to the certificate' });
    expect(certificatesCheck([used(300), faulty], NOW_MS)).toEqual({
      status: 'degraded',
      detail:
        'the files of the certificate of encrypted DNS cannot be used: this key does not belong to the certificate',
    });
  });
});
