/** @needs openssl */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { makeSelfSigned, namesOfMachine } from './self-signed.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);

/** Output of openssl for a certificate. */
function openssl(cert: string, ...args: readonly string[]): string {
  return execFileSync('openssl', ['x509', '-noout', ...args], { input: cert, stdio: 'pipe' }).toString();
}

describe('makeSelfSigned()', () => {
  test('creates certificates that openssl verifies, for names and addresses, valid for 825 days', async () => {
    const names = ['weir.home.arpa', 'localhost', '192.0.2.53', '2001:db8::53'];
    const { cert, key, facts } = await makeSelfSigned(names, NOW_MS);
    expect(facts).toEqual({
      subject: 'CN=weir.home.arpa, O=Weir',
      issuer: 'CN=weir.home.arpa, O=Weir',
      notBefore: new Date('2026-11-21T12:00:00Z'),
      notAfter: new Date('2029-02-23T12:00:00Z'),
      isSelfSigned: true,
      names,
      keyType: 'EC P-256',
    });
    const text = openssl(cert, '-text');
    expect(text).toContain('Version: 3 (0x2)');
    expect(text).toContain('Signature Algorithm: ecdsa-with-SHA256');
    expect(text).toContain('NIST CURVE: P-256');
    expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/Extended Key Usage: ?\n\s+TLS Web Server Authentication/);
    expect(text).toContain(
      'DNS:weir.home.arpa, DNS:localhost, IP Address:192.0.2.53, IP Address:2001:DB8:0:0:0:0:0:53',
    );
    const parsed = new X509Certificate(cert);
    expect(parsed.checkHost('weir.home.arpa')).toBe('weir.home.arpa');
    expect(parsed.checkIP('2001:db8::53')).toBe('2001:db8::53');
    expect(parsed.checkHost('other.test')).toBeUndefined();
    expect(key).toContain('BEGIN PRIVATE KEY');
  });

  test('never uses a serial number twice', async () => {
    const serials = await Promise.all(
      Array.from({ length: 20 }, async () =>
        openssl((await makeSelfSigned(['localhost'], NOW_MS)).cert, '-serial'),
      ),
    );
    expect(new Set(serials).size).toBe(20);
  });

  test('writes dates after 2049, and long lists of names', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `host-${at}.${'x'.repeat(60)}.home.arpa`);
    const { cert, facts } = await makeSelfSigned(names, Date.UTC(2049, 11, 1));
    expect(facts.notAfter.toISOString()).toBe('2052-03-04T00:00:00.000Z');
    expect(facts.subject).toBe('CN=localhost, O=Weir');
    expect(openssl(cert, '-ext', 'subjectAltName').match(/DNS:/g)).toHaveLength(100);
  });
});

describe('namesOfMachine(), the names in a self-signed certificate,', () => {
  test('lists the given names first, then the names of this machine, each name once', () => {
    const names = namesOfMachine(['Node-A', 'weir.home.arpa.', 'node-a', 'localhost']);
    expect(names.slice(0, 3)).toEqual(['node-a', 'weir.home.arpa', 'localhost']);
    expect(names).toEqual(expect.arrayContaining(['127.0.0.1', '::1']));
    expect(new Set(names).size).toBe(names.length);
  });

  test('leaves out invalid host names', () => {
    const odd = [
      '',
      'two words',
      'a..b',
      '*.home.arpa',
      'käse.test',
      'x\u0000y',
      '-a',
      `${'a'.repeat(64)}.test`,
      '192.0.2.1',
    ];
    expect(namesOfMachine(odd)[0]).toBe('localhost');
  });
});
