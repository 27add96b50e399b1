/** @needs openssl */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import type { TestCertificate } from '../../../test/support/dns/certificates.ts';
import { CertificateFault, readPair, refuseOutOfDate } from './certificate-pair.ts';

let authority: TestAuthority;
let good: TestCertificate;
let folder: string;

beforeAll(() => {
  authority = new TestAuthority();
  good = authority.issue('DNS:weir.home.arpa');
  folder = mkdtempSync(join(tmpdir(), 'weir-pairs-'));
});

afterAll(() => {
  authority.close();
  rmSync(folder, { recursive: true });
});

/** Makes a self-signed certificate with these arguments of openssl. */
function make(newKey: readonly string[], ...more: readonly string[]): { cert: string; key: string } {
  const args = [
    'req',
    '-x509',
    '-nodes',
    '-keyout',
    'key.pem',
    '-out',
    'cert.pem',
    '-subj',
    '/CN=weir',
    '-days',
    '2',
  ];
  execFileSync('openssl', [...args, ...newKey.flatMap((one) => one), ...more], {
    cwd: folder,
    stdio: 'pipe',
  });
  return {
    cert: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    key: readFileSync(join(folder, 'key.pem'), 'utf8'),
  };
}

const ec = (curve: string) => ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`];

function faultOf(cert: string, key: string): { field: string; message: string } {
  try {
    readPair(cert, key);
  } catch (error) {
    if (error instanceof CertificateFault) return { field: error.field, message: error.message };
    throw error;
  }
  throw new Error('the pair was not refused');
}

describe('readPair(), which parses a certificate and its key,', () => {
  test('reads a chain with text around its PEM blocks and writes only the blocks', () => {
    const chain = `Bag Attributes\n  name: weir\n${good.cert}subject=ca\r\n${authority.cert}`;
    const pair = readPair(chain, good.key);
    expect(pair.cert).toBe(good.cert + authority.cert);
    expect(pair.key).toMatch(/^-----BEGIN PRIVATE KEY-----\n[^-]+-----END PRIVATE KEY-----\n$/);
    expect(pair.facts).toMatchObject({
      subject: 'CN=server',
      issuer: 'CN=Weir test authority',
      isSelfSigned: false,
    });
  });

  test.each([
    ['RSA 2048', ['-newkey', 'rsa:2048']],
    ['EC P-384', ec('P-384')],
    ['Ed25519', ['-newkey', 'ed25519']],
  ])('accepts a self-signed certificate with a key of %s', (keyType, newKey) => {
    const { cert, key } = make(newKey);
    expect(readPair(cert, key).facts).toMatchObject({
      subject: 'CN=weir',
      isSelfSigned: true,
      names: [],
      keyType,
    });
  });

  test('returns the DNS names, even malformed names, and the addresses in canonical form', () => {
    const names = 'subjectAltName=DNS:*.home.arpa,IP:2001:db8::53,email:a@b.example,DNS:weir';
    const { cert, key } = make(ec('P-256'), '-addext', names);
    expect(readPair(cert, key).facts.names).toEqual(['*.home.arpa', '2001:db8::53', 'weir']);
  });

  test('accepts keys in the older PEM formats, with their parameters before them', () => {
    const { cert, key } = make(ec('P-256'));
    const older = execFileSync('openssl', ['ec'], { input: key, stdio: 'pipe' }).toString();
    const parameters = execFileSync('openssl', ['ecparam', '-name', 'prime256v1']).toString();
    expect(older).toContain('BEGIN EC PRIVATE KEY');
    expect(readPair(cert, parameters + older).cert).toBe(cert);
    const rsa = make(['-newkey', 'rsa:2048']);
    const olderRsa = execFileSync('openssl', ['rsa', '-traditional'], {
      input: rsa.key,
      stdio: 'pipe',
    }).toString();
    expect(olderRsa).toContain('BEGIN RSA PRIVATE KEY');
    expect(readPair(rsa.cert, olderRsa).cert).toBe(rsa.cert);
  });

  test.each([
    [
      'RSA of 1024 bits',
      ['-newkey', 'rsa:1024'],
      'the certificate has an RSA key of 1024 bits; the minimum is 2048',
    ],
    [
      'RSA of 4104 bits',
      ['-newkey', 'rsa:4104', '-pkeyopt', 'rsa_keygen_primes:4'],
      'the certificate has an RSA key of 4104 bits; the maximum is 4096',
    ],
    [
      'a curve of no browser',
      ec('secp256k1'),
      'the certificate has a key on the curve secp256k1; expected P-256, P-384 or P-521',
    ],
    [
      'SHA-1',
      ['-newkey', 'rsa:2048', '-sha1'],
      'the certificate is signed with sha1WithRSAEncryption, whose signatures can be forged',
    ],
    [
      'MD5',
      ['-newkey', 'rsa:2048', '-md5'],
      'the certificate is signed with md5WithRSAEncryption, whose signatures can be forged',
    ],
    [
      'ECDSA with SHA-1',
      [...ec('P-256'), '-sha1'],
      'the certificate is signed with ecdsa-with-SHA1, whose signatures can be forged',
    ],
    [
      'a use other than servers',
      [...ec('P-256'), '-addext', 'extendedKeyUsage=clientAuth'],
      'the certificate is not for servers (extended key usage)',
    ],
  ])('rejects %s', (_, newKey, message) => {
    const { cert, key } = make(newKey);
    expect(faultOf(cert, key)).toEqual({ field: 'cert', message });
  });

  test('rejects a key that does not belong to the certificate', () => {
    const fault = { field: 'key', message: 'this key does not belong to the certificate' };
    expect(faultOf(good.cert, authority.issue('DNS:other.test').key)).toEqual(fault);
    expect(faultOf(good.cert, make(['-newkey', 'ed25519']).key)).toEqual(fault);
  });

  test('rejects swapped certificate and key, and reports the mistake', () => {
    expect(faultOf(good.key, good.cert)).toEqual({
      field: 'cert',
      message:
        'expected a certificate in PEM (BEGIN CERTIFICATE), got a private key; are the certificate and the key swapped?',
    });
    expect(faultOf(good.cert, good.cert).message).toContain(
      'got a certificate; are the certificate and the key swapped?',
    );
  });

  test('rejects encrypted keys in both PEM formats, and logs nothing about them', () => {
    const modern = execFileSync('openssl', ['pkcs8', '-topk8', '-passout', 'pass:x'], { input: good.key });
    const older = execFileSync('openssl', ['ec', '-aes128', '-passout', 'pass:x'], {
      input: make(ec('P-256')).key,
      stdio: 'pipe',
    });
    for (const key of [modern, older])
      expect(faultOf(good.cert, key.toString())).toEqual({
        field: 'key',
        message: 'the key is encrypted; remove its passphrase first',
      });
  });

  test.each([
    ['nothing', '', 'expected a certificate in PEM (BEGIN CERTIFICATE), got none'],
    [
      'binary',
      '\u0000\u0001\ufffd'.repeat(100),
      'expected a certificate in PEM (BEGIN CERTIFICATE), got none',
    ],
    [
      'a block of other bytes',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'the certificate cannot be read',
    ],
    [
      'a block that does not end',
      '-----BEGIN CERTIFICATE-----\nAAAA\n',
      'expected a certificate in PEM (BEGIN CERTIFICATE), got none',
    ],
  ])('rejects %s as a certificate', (_, cert, message) => {
    expect(faultOf(cert, good.key)).toEqual({ field: 'cert', message });
  });

  test('rejects an unreadable key, and more than one key', () => {
    expect(faultOf(good.cert, 'key').message).toBe(
      'expected a private key in PEM (BEGIN PRIVATE KEY), got none',
    );
    expect(faultOf(good.cert, '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----').message).toBe(
      'the private key cannot be read',
    );
    expect(faultOf(good.cert, good.key + good.key).message).toBe('expected one private key, got 2');
  });

  test('rejects a chain that is in the wrong order, contains unrelated certificates, or is too long', () => {
    const message =
      "certificate 2 of the chain did not sign the previous one; the server's certificate must come first";
    expect(faultOf(authority.cert + good.cert, good.key)).toEqual({ field: 'cert', message });
    expect(faultOf(good.cert + make(ec('P-256')).cert, good.key)).toEqual({ field: 'cert', message });
    expect(faultOf(good.cert.repeat(11), good.key).message).toBe('expected at most 10 certificates, got 11');
  });

  test('reads each text in one pass, even hostile texts', () => {
    const text = '-----BEGIN CERTIFICATE-----\n'.repeat(2000) + 'A'.repeat(60_000);
    expect(faultOf(text, '-----BEGIN PRIVATE KEY-----'.repeat(500)).field).toBe('cert');
  });
});

describe('refuseOutOfDate(), which checks the validity of a certificate,', () => {
  test('accepts a certificate from its first to its last instant', () => {
    const pair = readPair(good.cert, good.key);
    const from = pair.facts.notBefore.getTime();
    const to = pair.facts.notAfter.getTime();
    for (const ms of [from, to]) expect(() => refuseOutOfDate(pair, ms)).not.toThrow();
    expect(() => refuseOutOfDate(pair, to + 1)).toThrow(/^the certificate expired at 20..-..-..T/);
    expect(() => refuseOutOfDate(pair, from - 1)).toThrow(/^the certificate is not valid before 20..-..-..T/);
  });

  test('rejects a certificate that openssl calls expired', () => {
    const expired = authority.issue('DNS:weir.home.arpa', true);
    expect(() => refuseOutOfDate(readPair(expired.cert, expired.key), Date.now())).toThrow('expired');
  });
});
