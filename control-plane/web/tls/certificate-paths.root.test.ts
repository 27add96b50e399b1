/**
 * The paths of the web certificate on an ordinary installation, whose user can write neither `/data` nor `/`.
 *
 * @needs root
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { webCertificatePaths } from './certificate-paths.ts';

const OTHER_USER = 64999;
const DEFAULT = { cert: '/data/cert.pem', key: '/data/key.pem' };
let dataDir: string;
const own = () => ({ cert: join(dataDir, 'tls/cert.pem'), key: join(dataDir, 'tls/key.pem') });

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-certificate-'));
  chmodSync(dataDir, 0o777);
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** Value of `expression` for an ordinary user, in a separate process: access(2) checks the real user. */
function asOther(expression: string): unknown {
  const program = `
    import { systemClock as clock } from ${moduleAt('../../../shared/clock.ts')};
    import { CertificateFiles } from ${moduleAt('./certificate-files.ts')};
    import { webCertificatePaths } from ${moduleAt('./certificate-paths.ts')};
    import { makeSelfSigned } from ${moduleAt('./self-signed.ts')};
    const [DEFAULT, dataDir] = ${JSON.stringify([DEFAULT, dataDir])};
    process.setgid(${OTHER_USER});
    process.setuid(${OTHER_USER});
    console.log(JSON.stringify(await (${expression})));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const moduleAt = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);

describe('webCertificatePaths, the files of the web certificate,', () => {
  test('returns the data directory if the default folder cannot be written', () => {
    expect(asOther('webCertificatePaths(DEFAULT, dataDir)')).toEqual(own());
  });

  test('returns the default paths if they are writable', () => {
    expect(webCertificatePaths(DEFAULT, dataDir)).toEqual(DEFAULT);
  });

  test('keeps the certificate that Weir created as an ordinary user when root starts it', () => {
    mkdirSync(join(dataDir, 'tls'));
    writeFileSync(own().cert, 'a certificate');
    expect(webCertificatePaths(DEFAULT, dataDir)).toEqual(own());
  });

  test('returns the configured paths in every case', () => {
    const given = { cert: '/nowhere/cert.pem', key: '/data/key.pem' };
    expect(asOther(`webCertificatePaths(${JSON.stringify(given)}, dataDir)`)).toEqual(given);
  });

  test('returns paths at which an ordinary user can store a certificate', () => {
    const stored = asOther(`(async () => {
      const files = new CertificateFiles(webCertificatePaths(DEFAULT, dataDir));
      await files.store(await makeSelfSigned(['weir'], clock.nowMs()));
      return (await files.read()).facts.subject;
    })()`);
    expect(stored).toBe('CN=weir, O=Weir');
    expect(statSync(own().key).mode & 0o777).toBe(0o600);
  });
});
