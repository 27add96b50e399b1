import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { systemClock } from '../../../shared/clock.ts';
import { TestAuthority } from '../../../test/support/dns/certificates.ts';
import type { RunningApi, TestAnswer } from '../../../test/support/parts/running-api.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import { CertificateFiles } from './certificate-files.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { makeSelfSigned } from './self-signed.ts';
import { tlsRoutes } from './tls-routes.ts';
import { WebCertificate } from './web-certificate.ts';

let suite: SuiteDatabase;
let api: RunningApi;
let folder: string;
let files: CertificateFiles;
let certificate: WebCertificate;
let authority: TestAuthority;
let shared: CertificatePair[];
const share = async (_tx: unknown, pair: CertificatePair): Promise<void> => void shared.push(pair);

beforeAll(async () => {
  authority = new TestAuthority();
  folder = await mkdtemp(join(tmpdir(), 'weir-tls-'));
});

afterAll(async () => {
  authority.close();
  await rm(folder, { recursive: true });
});

serveSuite(
  (parts) => {
    files = new CertificateFiles({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') });
    const names = () => ['node-a', '192.0.2.53'];
    certificate = new WebCertificate({ ...parts, clock: systemClock, files, names });
    return tlsRoutes({ ...parts, certificate, sharedCertificate: { share }, clock: systemClock });
  },
  (served) => ({ api, suite } = served),
  { perTest: true },
);

beforeEach(async () => {
  shared = [];
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
});

type Part = readonly [name: string, content: string, file?: string];

/** The body of a form, encoded like curl does. */
function form(...parts: readonly Part[]) {
  const boundary = '------------------------weir';
  const texts = parts.map(([name, content, file]) => {
    const disposition = `form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}`;
    return `--${boundary}\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n`;
  });
  return {
    raw: `${texts.join('')}--${boundary}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

const upload = (...parts: readonly Part[]): Promise<TestAnswer> =>
  api.send('POST', '/api/tls/upload', form(...parts));
const status = async (): Promise<unknown> => (await api.send('GET', '/api/tls/status')).body;

const NONE = {
  enabled: false,
  exists: false,
  valid: false,
  fault: null,
  subject: null,
  issuer: null,
  names: [],
  key_type: null,
  not_before: null,
  expiration: null,
  self_signed: null,
};

describe('POST /tls/upload', () => {
  test('replaces both files, sent with or without file names, and is active at once', async () => {
    expect(await status()).toEqual(NONE);
    for (const file of ['cert.pem', undefined]) {
      const { cert, key } = authority.issue('DNS:weir.home.arpa');
      const answer = await upload(['cert', cert + authority.cert, file!], ['key', key, file!]);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        exists: true,
        valid: true,
        subject: 'CN=server',
        issuer: 'CN=Weir test authority',
        names: ['weir.home.arpa'],
        self_signed: false,
      });
      expect(await status()).toEqual(answer.body);
      expect(certificate.current()?.cert).toBe(cert + authority.cert);
      expect(answer.text + api.logger.text()).not.toContain('PRIVATE KEY');
    }
    expect((await stat(files.paths.key)).mode & 0o777).toBe(0o600);
    expect(shared.map(({ cert }) => cert)).toContain(certificate.current()?.cert);
  });

  test('rejects an invalid pair with the reason, and changes nothing', async () => {
    const good = authority.issue('DNS:weir.home.arpa');
    const other = authority.issue('DNS:weir.home.arpa');
    const expired = authority.issue('DNS:weir.home.arpa', true);
    const future = await makeSelfSigned(['weir'], Date.now() + 5 * 86_400_000);
    await upload(['cert', good.cert], ['key', good.key]);
    const before = await status();
    const cases: readonly (readonly [Part[], string, RegExp])[] = [
      [
        [
          ['cert', good.cert],
          ['key', other.key],
        ],
        'key',
        /does not belong to the certificate/,
      ],
      [
        [
          ['cert', good.key],
          ['key', good.cert],
        ],
        'cert',
        /swapped/,
      ],
      [
        [
          ['cert', expired.cert],
          ['key', expired.key],
        ],
        'cert',
        /expired at 2020-01-02/,
      ],
      [
        [
          ['cert', future.cert],
          ['key', future.key],
        ],
        'cert',
        /not valid before/,
      ],
      [[['cert', good.cert]], 'key', /missing/],
      [[['key', good.key]], 'cert', /missing/],
      [
        [
          ['cert', ''],
          ['key', ''],
        ],
        'cert',
        /got none/,
      ],
      [
        [
          ['cert', good.cert],
          ['key', good.key],
          ['more', 'x'],
        ],
        'more',
        /unknown field/,
      ],
      [
        [
          ['cert', good.cert],
          ['key', good.key],
          ['more', 'x', 'f'],
        ],
        'more',
        /unknown/,
      ],
      [
        [
          ['cert', good.cert],
          ['cert', good.cert],
          ['key', good.key],
        ],
        'cert',
        /./,
      ],
      [
        [
          ['__proto__', 'x'],
          ['cert', good.cert],
          ['key', good.key],
        ],
        '__proto__',
        /./,
      ],
    ];
    for (const [parts, path, message] of cases) {
      const answer = await upload(...parts);
      expect(answer.status).toBe(400);
      expect(answer.problem.errors).toContainEqual({ path, message: expect.stringMatching(message) });
      expect(answer.text).not.toMatch(/-----|MI[A-Z]/);
    }
    expect(await status()).toEqual(before);
    expect(await files.read()).toMatchObject({ cert: good.cert });
    expect(certificate.current()?.cert).toBe(good.cert);
  });

  test('rejects a body that is too large with 413, and other bodies with 415 and 400', async () => {
    const { cert, key } = authority.issue('DNS:weir.home.arpa');
    for (const file of ['f', undefined]) {
      for (const [name, size] of [
        ['cert', 65_537],
        ['key', 16_385],
      ] as const) {
        const parts: Part[] = [
          ['cert', cert, file!],
          ['key', key, file!],
        ];
        const large = parts.map((part): Part => (part[0] === name ? [name, 'x'.repeat(size), file!] : part));
        const answer = await upload(...large);
        expect([answer.status, answer.problem.error]).toEqual([413, 'too_large']);
      }
    }
    const json = await api.send('POST', '/api/tls/upload', { json: { cert, key } });
    expect([json.status, json.headers['accept']]).toEqual([415, 'multipart/form-data']);
    expect((await api.send('POST', '/api/tls/upload')).problem.errors).toHaveLength(2);
    const { raw, headers } = form(['cert', cert], ['key', key]);
    for (const broken of [
      { raw, headers: { 'content-type': 'multipart/form-data' } },
      { raw: raw.slice(0, 300), headers },
      { raw: 'x'.repeat(1000), headers },
    ])
      expect((await api.send('POST', '/api/tls/upload', broken)).status).toBe(400);
    expect(await status()).toEqual(NONE);
  });

  test('refuses to replace symbolic links, and is 503 if the files cannot be written', async () => {
    const { cert, key } = authority.issue('DNS:weir.home.arpa');
    await symlink('elsewhere.pem', files.paths.key);
    const linked = await upload(['cert', cert], ['key', key]);
    expect([linked.status, linked.problem.error]).toEqual([409, 'conflict']);
    await rm(files.paths.key);
    await mkdir(files.paths.key);
    const blocked = await upload(['cert', cert], ['key', key]);
    expect([blocked.status, blocked.problem.error]).toEqual([503, 'dependency_unavailable']);
    expect(certificate.current()).toBeNull();
  });
});

describe('POST /tls/generate', () => {
  const generate = (query = ''): Promise<TestAnswer> => api.send('POST', `/api/tls/generate${query}`);

  test('creates a self-signed certificate, and keeps a valid certificate unless forced', async () => {
    const made = await generate();
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      exists: true,
      valid: true,
      subject: 'CN=node-a, O=Weir',
      self_signed: true,
    });
    expect(shared).toEqual([]);
    const first = certificate.current();
    for (const query of ['', '?force=false']) {
      const kept = await generate(query);
      expect([kept.status, kept.problem.error]).toEqual([409, 'conflict']);
    }
    expect(certificate.current()).toBe(first);
    expect((await generate('?force=true')).status).toBe(200);
    expect(certificate.current()?.cert).not.toBe(first?.cert);
    expect(await files.read()).toEqual(certificate.current());
    for (const query of ['?force=1', '?forced=true', '?force=true&force=true'])
      expect((await generate(query)).status).toBe(400);
  });

  test('replaces no file that Weir did not write, even if forced', async () => {
    await writeFile(files.paths.cert, 'root:x:0:0::/root:/bin/sh\n');
    const refused = await generate('?force=true');
    expect([refused.status, refused.problem.error]).toEqual([409, 'conflict']);
    expect(await readFile(files.paths.cert, 'utf8')).toBe('root:x:0:0::/root:/bin/sh\n');
    expect(await readdir(folder)).toEqual(['cert.pem']);
  });

  test('creates one certificate for several concurrent requests', async () => {
    const answers = await Promise.all([generate(), generate(), generate()]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
  });

  test('reports why existing files cannot be used', async () => {
    await files.store(await makeSelfSigned(['node-a'], Date.now()));
    await writeFile(files.paths.key, 'not a key');
    const fault = expect.stringMatching(/^expected a private key in PEM/);
    expect(await status()).toMatchObject({ exists: true, valid: false, fault });
  });

  test('replaces an expired certificate without force', async () => {
    await files.store(await makeSelfSigned(['old'], Date.now() - 900 * 86_400_000));
    expect(await status()).toMatchObject({ exists: true, valid: false, subject: 'CN=old, O=Weir' });
    expect((await generate()).status).toBe(200);
    expect(await status()).toMatchObject({ valid: true });
  });
});

describe('the audit log of certificate changes', () => {
  const entries = async (): Promise<unknown[]> =>
    (await suite.database.query('SELECT actor, action, subject, before, after FROM audit_log ORDER BY id'))
      .rows;

  test('has each replacement with the old and the new certificate, but no key and no rejected request', async () => {
    await asOwner(suite.database, 'TRUNCATE audit_log');
    const { cert, key } = authority.issue('DNS:weir.home.arpa');
    await upload(['cert', cert], ['key', cert]);
    await upload(['cert', cert], ['key', key]);
    await api.send('POST', '/api/tls/generate');
    await api.send('POST', '/api/tls/generate?force=true');
    const found = await entries();
    expect(found).toMatchObject([
      { action: 'changed', subject: 'web certificate', before: NONE, after: { subject: 'CN=server' } },
      { before: { subject: 'CN=server' }, after: { subject: 'CN=node-a, O=Weir', self_signed: true } },
    ]);
    expect(JSON.stringify(found)).not.toMatch(/-----|MI[A-Z]/);
  });

  test('has no entry for a certificate that was not stored; none is stored without an entry', async () => {
    await asOwner(suite.database, 'TRUNCATE audit_log');
    await mkdir(files.paths.key);
    expect((await api.send('POST', '/api/tls/generate')).status).toBe(503);
    expect(await entries()).toEqual([]);
    await rm(files.paths.key, { recursive: true });
    await asOwner(suite.database, 'ALTER TABLE audit_log RENAME TO audit_log_elsewhere');
    expect((await api.send('POST', '/api/tls/generate')).status).toBe(500);
    await asOwner(suite.database, 'ALTER TABLE audit_log_elsewhere RENAME TO audit_log');
    expect(await files.read()).toBeNull();
    expect(certificate.current()).toBeNull();
  });
});
