import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateFiles, CertificateFilesError, MAX_CERT_BYTES } from './certificate-files.ts';
import { CertificateFault } from './certificate-pair.ts';
import type { CertificatePair } from './certificate-pair.ts';
import { makeSelfSigned } from './self-signed.ts';

let first: CertificatePair;
let second: CertificatePair;
let folder: string;
let files: CertificateFiles;

beforeAll(async () => {
  first = await makeSelfSigned(['first.test'], Date.now());
  second = await makeSelfSigned(['second.test'], Date.now());
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-tls-'));
  files = new CertificateFiles({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') });
});

afterEach(() => rm(folder, { recursive: true }));

const subjectIn = async (): Promise<string | undefined> => (await files.read())?.facts.subject;

describe('store() and read() of certificate files', () => {
  test('store() writes both files with access for their owner only, into folders that it creates', async () => {
    const deep = { cert: join(folder, 'a/b/cert.pem'), key: join(folder, 'c/key.pem') };
    files = new CertificateFiles(deep);
    expect(await files.exist()).toBe(false);
    expect(await files.read()).toBeNull();
    await files.store(first);
    await files.store(second);
    expect(await files.exist()).toBe(true);
    expect(await files.read()).toEqual(second);
    for (const path of Object.values(deep)) expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'c'))).toEqual(['key.pem']);
  });

  test('store() makes a key file private if other users could read it', async () => {
    await files.store(first);
    await chmod(files.paths.key, 0o644);
    await files.store(second);
    expect((await stat(files.paths.key)).mode & 0o777).toBe(0o600);
  });

  test('read() reports which file is missing, too large, or unreadable', async () => {
    await files.store(first);
    await rename(files.paths.key, `${files.paths.key}.away`);
    await expect(files.read()).rejects.toThrow(`the file ${files.paths.key} does not exist`);
    expect(await files.exist()).toBe(false);
    await writeFile(files.paths.cert, 'x'.repeat(MAX_CERT_BYTES + 1));
    await expect(files.read()).rejects.toThrow(`${files.paths.cert} has 65537 bytes; the maximum is 65536`);
    await rm(files.paths.cert);
    await mkdir(files.paths.cert);
    await expect(files.read()).rejects.toThrow(CertificateFault);
  });

  test('store() refuses to replace symbolic links, and changes nothing', async () => {
    await files.store(first);
    const target = join(folder, 'archive1.pem');
    await rename(files.paths.cert, target);
    await symlink(target, files.paths.cert);
    const refusal = files.store(second);
    await expect(refusal).rejects.toThrow(CertificateFilesError);
    await expect(refusal).rejects.toMatchObject({ isForeign: true });
    expect(await subjectIn()).toBe('CN=first.test, O=Weir');
  });

  test.each(['cert', 'key'] as const)(
    'store() does not overwrite a %s file that Weir did not write',
    async (which) => {
      await files.store(first);
      const other = { cert: first.key, key: first.cert }[which];
      for (const text of ['root:x:0:0::/root:/bin/sh\n', '', other, 'x'.repeat(MAX_CERT_BYTES + 1)]) {
        await writeFile(files.paths[which], text);
        await expect(files.store(second)).rejects.toMatchObject({ isForeign: true });
        expect(await readFile(files.paths[which], 'utf8')).toBe(text);
      }
    },
  );

  test('store() does not replace a socket', async () => {
    const server = createServer();
    await once(server.listen(files.paths.cert), 'listening');
    await expect(files.store(first)).rejects.toMatchObject({ isForeign: true });
    server.close();
  });

  test('store() keeps the old pair if the second file cannot be written', async () => {
    await files.store(first);
    // A directory at the path of the temporary file.
    await mkdir(`${files.paths.cert}.tmp`);
    await expect(files.store(second)).rejects.toMatchObject({ isForeign: false });
    expect(await files.read()).toEqual(first);
    expect(await readdir(folder)).not.toContain('key.pem.pending');
  });

  test('store() leaves no new file if the second file cannot be written', async () => {
    await mkdir(`${files.paths.cert}.tmp`);
    await expect(files.store(first)).rejects.toThrow(CertificateFilesError);
    expect(await files.read()).toBeNull();
  });

  test('fingerprint() changes with the target of a symbolic link', async () => {
    await files.store(first);
    const targets = [join(folder, 'one.pem'), join(folder, 'two.pem')] as const;
    for (const target of targets) await writeFile(target, first.cert);
    const link = async (target: string): Promise<void> => {
      await symlink(target, join(folder, 'new'));
      await rename(join(folder, 'new'), files.paths.cert);
    };
    await link(targets[0]);
    const before = await files.fingerprint();
    expect(await files.fingerprint()).toBe(before);
    await link(targets[1]);
    expect(await files.fingerprint()).not.toBe(before);
  });
});

describe('recover(), after a crash during store(),', () => {
  const pending = (): string => `${files.paths.key}.pending`;

  /** Leaves the directory like a crash before step `at` of the replacement of `first` by `second`. */
  async function crashBefore(at: number): Promise<void> {
    const steps = [
      () => writeFile(`${pending()}.tmp`, second.key.slice(0, 50)),
      () => writeFile(pending(), second.key + second.cert),
      () => writeFile(files.paths.key, second.key),
      () => writeFile(files.paths.cert, second.cert),
      () => rm(pending()),
    ];
    for (const step of steps.slice(0, at)) await step();
  }

  test.each([
    [0, 'first'],
    [1, 'first'],
    [2, 'first'],
    [3, 'second'],
    [4, 'second'],
    [5, 'second'],
  ])('leaves one complete pair after a crash before step %i', async (at, expected) => {
    await files.store(first);
    await crashBefore(at);
    await files.recover();
    expect(await subjectIn()).toBe(`CN=${expected}.test, O=Weir`);
    expect(await readdir(folder)).not.toContain('key.pem.pending');
    // A later recovery changes nothing.
    await files.recover();
    expect(await subjectIn()).toBe(`CN=${expected}.test, O=Weir`);
  });

  test.each([2, 3, 4, 5])('completes the first pair after a crash before step %i', async (at) => {
    await crashBefore(at);
    await files.recover();
    expect(await files.read()).toEqual(second);
  });

  test('does not undo a manual change after a crash', async () => {
    await files.store(second);
    await writeFile(pending(), first.key + first.cert);
    await files.recover();
    expect(await files.read()).toEqual(second);
  });
});
