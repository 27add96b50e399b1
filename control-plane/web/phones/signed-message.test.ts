/**
 * Signed messages, as OpenSSL reads them.
 *
 * @needs openssl
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import { makeSelfSigned } from '../tls/self-signed.ts';
import { canSign, signMessage } from './signed-message.ts';

const MESSAGE = Buffer.from('<plist>ä</plist>\n'.repeat(100));

let folder: string;
let authority: TestAuthority;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-signed-'));
  authority = new TestAuthority();
});
afterAll(() => {
  authority.close();
  rmSync(folder, { recursive: true });
});

function openssl(...args: string[]): string {
  return execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The content of a message whose signature and chain OpenSSL accepts with this root. */
function verified(der: Buffer, root: string): Buffer {
  writeFileSync(join(folder, 'signed.der'), der);
  writeFileSync(join(folder, 'root.pem'), root);
  const input = ['-inform', 'DER', '-in', 'signed.der', '-out', 'content', '-binary'];
  openssl('cms', '-verify', ...input, '-CAfile', 'root.pem', '-purpose', 'any');
  return readFileSync(join(folder, 'content'));
}

/** A self-signed certificate with an RSA key. */
function rsaPair(): { cert: string; key: string } {
  const files = ['-keyout', 'rsa.key', '-out', 'rsa.pem', '-subj', '/CN=rsa.test', '-days', '2'];
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files);
  return {
    cert: readFileSync(join(folder, 'rsa.pem'), 'utf8'),
    key: readFileSync(join(folder, 'rsa.key'), 'utf8'),
  };
}

describe('signMessage(), which signs a profile,', () => {
  test('signs with an EC key', async () => {
    const pair = await makeSelfSigned(['dns.example.org'], Date.now());
    expect(verified(signMessage(MESSAGE, pair, Date.now()), pair.cert)).toEqual(MESSAGE);
  });

  test('signs with an RSA key', () => {
    const pair = rsaPair();
    expect(verified(signMessage(MESSAGE, pair, Date.now()), pair.cert)).toEqual(MESSAGE);
  });

  test('includes the certificate chain, so that a device needs only the root certificate', () => {
    const { cert, key } = authority.issue('DNS:dns.example.org');
    const pair = { cert: cert + authority.cert, key };
    expect(verified(signMessage(MESSAGE, pair, Date.now()), authority.cert)).toEqual(MESSAGE);
  });

  test('returns a signature that is invalid for a changed message', async () => {
    const pair = await makeSelfSigned(['dns.example.org'], Date.now());
    const signed = signMessage(MESSAGE, pair, Date.now());
    signed[signed.indexOf('plist')]! ^= 1;
    expect(() => verified(signed, pair.cert)).toThrow(/digest|verif/i);
  });
});

test('canSign() accepts only RSA and EC keys', () => {
  expect(['RSA 2048', 'EC P-256', 'Ed25519', ''].map(canSign)).toEqual([true, true, false, false]);
});
