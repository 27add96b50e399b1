import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { CertificateFiles } from './certificate-files.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { makeSelfSigned } from './self-signed.ts';
import { WebCertificate } from './web-certificate.ts';

let folder: string;
let files: CertificateFiles;
let logger: MemoryLogger;
let certificate: WebCertificate;
let taken: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-tls-'));
  files = new CertificateFiles({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') });
  logger = new MemoryLogger();
  certificate = anotherRun();
});

afterEach(() => rm(folder, { recursive: true }));

/** The certificate after another start of Weir. */
function anotherRun(names = ['node-a']): WebCertificate {
  const run = new WebCertificate({ files, names: () => names, clock, logger });
  taken = [];
  run.onChange(({ facts }) => taken.push(facts.subject));
  return run;
}

const clock = new TestClock();
const selfSigned = (name: string, nowMs = clock.nowMs()): Promise<CertificatePair> =>
  makeSelfSigned([name], nowMs);
const subject = (): string | undefined => certificate.current()?.facts.subject;
const YEAR_MS = 365 * 86_400_000;

async function put(pair: { cert: string; key: string }): Promise<void> {
  await writeFile(files.paths.key, pair.key);
  await writeFile(files.paths.cert, pair.cert);
}

/** A change is loaded after two checks have seen it. */
async function lookTwice(): Promise<void> {
  await certificate.checkFiles();
  await certificate.checkFiles();
}

describe('open() the web certificate', () => {
  test('creates and stores a self-signed certificate if there are no files, and reuses that certificate later', async () => {
    expect(certificate.current()).toBeNull();
    const made = await certificate.open();
    expect(made.facts).toMatchObject({ subject: 'CN=node-a, O=Weir', isSelfSigned: true });
    expect(await files.read()).toEqual(made);
    certificate = anotherRun(['other']);
    expect(await certificate.open()).toEqual(made);
    expect(logger.text()).not.toContain('PRIVATE KEY');
  });

  test('uses a temporary certificate if the files are invalid, and does not change them', async () => {
    await put({ cert: 'rubbish', key: 'rubbish' });
    await certificate.open();
    expect(subject()).toBe('CN=node-a, O=Weir');
    expect(await readFile(files.paths.cert, 'utf8')).toBe('rubbish');
    expect(logger.lines[0]).toMatchObject({ level: 'error', fields: { ...files.paths } });
    expect(await certificate.found()).toEqual({
      exists: true,
      isValid: false,
      facts: null,
      fault: 'expected a certificate in PEM (BEGIN CERTIFICATE), got none',
    });
  });

  test('uses a temporary certificate if the folder cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    files = new CertificateFiles({ cert: join(folder, 'file/cert.pem'), key: join(folder, 'file/key.pem') });
    certificate = anotherRun();
    await certificate.open();
    expect(subject()).toBe('CN=node-a, O=Weir');
    expect(logger.text()).toContain('store the certificate: E');
  });

  test('keeps using an expired certificate, and warns', async () => {
    await put(await selfSigned('old', clock.nowMs() - 4 * YEAR_MS));
    await certificate.open();
    expect(subject()).toBe('CN=old, O=Weir');
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn']);
    expect(await certificate.found()).toMatchObject({
      exists: true,
      isValid: false,
      facts: { subject: 'CN=old, O=Weir' },
    });
  });

  test('completes a replacement that a crash interrupted', async () => {
    await files.store(await selfSigned('before'));
    const next = await selfSigned('after');
    await writeFile(`${files.paths.key}.pending`, next.key + next.cert);
    await writeFile(files.paths.key, next.key);
    await certificate.open();
    expect(subject()).toBe('CN=after, O=Weir');
  });
});

describe('check() for changed certificate files', () => {
  beforeEach(async () => {
    await certificate.open();
    taken = [];
  });

  test('accepts files written by another program only once certificate and key match', async () => {
    const next = await selfSigned('next');
    await writeFile(files.paths.cert, next.cert);
    await certificate.checkFiles();
    await writeFile(files.paths.key, next.key);
    await certificate.checkFiles();
    expect(taken).toEqual([]);
    await certificate.checkFiles();
    expect(taken).toEqual(['CN=next, O=Weir']);
    await lookTwice();
    expect(taken).toHaveLength(1);
    expect(logger.text()).not.toContain('PRIVATE KEY');
  });

  test('follows symbolic links that are replaced', async () => {
    for (const name of ['one', 'two']) {
      await mkdir(join(folder, name));
      const pair = await selfSigned(name);
      for (const kind of ['cert', 'key'] as const) {
        await writeFile(join(folder, name, kind), pair[kind]);
        await symlink(join(name, kind), join(folder, `${kind}.new`));
        await rename(join(folder, `${kind}.new`), files.paths[kind]);
      }
      await lookTwice();
    }
    expect(taken).toEqual(['CN=one, O=Weir', 'CN=two, O=Weir']);
  });

  test.each([
    ['garbage', async () => ({ cert: 'x', key: 'y' })],
    [
      'a key of another',
      async () => ({ cert: (await selfSigned('a')).cert, key: (await selfSigned('b')).key }),
    ],
    ['one that is over', () => selfSigned('old', clock.nowMs() - 4 * YEAR_MS)],
    ['one of the future', () => selfSigned('future', clock.nowMs() + YEAR_MS)],
  ])('keeps the active certificate and logs once if the new certificate is %s', async (_, make) => {
    const before = certificate.current();
    logger.lines.length = 0;
    await put(await make());
    for (let checks = 0; checks < 5; checks++) await certificate.checkFiles();
    expect(certificate.current()).toBe(before);
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn']);
    expect(taken).toEqual([]);
  });

  test('keeps the active certificate while the files are missing, and loads files that come back', async () => {
    const next = await selfSigned('back');
    for (const path of [files.paths.cert, files.paths.key]) await rm(path);
    await lookTwice();
    expect(subject()).toBe('CN=node-a, O=Weir');
    expect(logger.text()).toContain('the files no longer exist');
    await put(next);
    await lookTwice();
    expect(subject()).toBe('CN=back, O=Weir');
  });
});

describe('replace() the web certificate', () => {
  test('activates and stores a certificate pair, and notifies listeners', async () => {
    await certificate.open();
    const next = await selfSigned('next');
    const before = await certificate.replace(async (found, install) => {
      await install(next);
      return found;
    });
    expect(before).toMatchObject({ exists: true, isValid: true, facts: { subject: 'CN=node-a, O=Weir' } });
    expect(await files.read()).toEqual(next);
    expect(taken.at(-1)).toBe('CN=next, O=Weir');
    await lookTwice();
    expect(taken).toHaveLength(2);
  });

  test('runs one replacement at a time', async () => {
    await certificate.open();
    const pairs = await Promise.all(['a', 'b', 'c'].map((name) => selfSigned(name)));
    const found = await Promise.all(
      pairs.map((pair) =>
        certificate.replace(async ({ facts }, install) => {
          await install(pair);
          return facts?.subject;
        }),
      ),
    );
    expect(found).toEqual(['CN=node-a, O=Weir', 'CN=a, O=Weir', 'CN=b, O=Weir']);
    expect(await files.read()).toEqual(pairs[2]);
    expect(await readdir(folder)).toEqual(['cert.pem', 'key.pem']);
  });

  test('changes nothing if the step before the replacement throws', async () => {
    const made = await certificate.open();
    await expect(
      certificate.replace(async () => {
        throw new Error('no audit');
      }),
    ).rejects.toThrow('no audit');
    expect(certificate.current()).toBe(made);
    expect(await files.read()).toEqual(made);
  });

  test('does not notify listeners that were removed', async () => {
    const calls: string[] = [];
    const stop = certificate.onChange(({ facts }) => calls.push(facts.subject));
    await certificate.open();
    stop();
    await certificate.replace(async (_, install) => install(await certificate.makeOwn()));
    expect(calls).toHaveLength(1);
  });
});
