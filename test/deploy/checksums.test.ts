/** Writes the checksums, signed with the key in the file `key`; '' = unsigned. */
import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, verify, type KeyObject } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const SCRIPT = join(import.meta.dirname, '..', '..', 'deploy', 'build', 'checksums');
const INSTALL = join(import.meta.dirname, '..', '..', 'docs', 'install.md');
const FILES = { 'weir_1_amd64.deb': 'a package', 'weir_1.tar': 'an image' };
let folder = '';
let publicKey: KeyObject;
let keyFile = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-checksums-'));
  const pair = generateKeyPairSync('ed25519');
  publicKey = pair.publicKey;
  keyFile = join(folder, 'key.pem');
  writeFileSync(keyFile, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function addFiles(): void {
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);
}

/** Writes the checksums, signed with the key in a file unless that is ''. */
function make(key: string): { status: number | null; stderr: string } {
  const env = { ...process.env, WEIR_SIGNING_KEY: key };
  const { status, stderr } = spawnSync(SCRIPT, [folder], { encoding: 'utf8', env });
  return { status, stderr };
}

const sums = (): Buffer => readFileSync(join(folder, 'SHA256SUMS'));
const signature = (): string => join(folder, 'SHA256SUMS.sig');

describe('deploy/build/checksums', () => {
  test('writes the SHA-256 of each package and image in the format of sha256sum -c', () => {
    addFiles();
    expect(make('')).toEqual({ status: 0, stderr: '' });
    const lines = Object.entries(FILES).map(
      ([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}`,
    );
    expect(sums().toString().trim().split('\n').toSorted()).toEqual(lines.toSorted());
    expect(existsSync(signature())).toBe(false);
    expect(spawnSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: folder }).status).toBe(0);
  });

  test('signs the checksums with the given key, and the signature is invalid for changed checksums', () => {
    addFiles();
    expect(make(keyFile)).toEqual({ status: 0, stderr: '' });
    const signed = readFileSync(signature());
    expect(verify(null, sums(), publicKey, signed)).toBe(true);
    expect(verify(null, Buffer.concat([sums(), Buffer.from(' ')]), publicKey, signed)).toBe(false);
  });

  test('writes a signature that the commands in docs/install.md can create and verify', () => {
    const commands = [...readFileSync(INSTALL, 'utf8').matchAll(/```sh\n([^`]*openssl[^`]*)```/g)].map(
      ([, text]) => text!,
    );
    expect(commands).toHaveLength(2);
    const [verification, generation] = commands as [string, string];
    const run = (command: string): number | null =>
      spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' }).status;
    expect(run(generation)).toBe(0);
    addFiles();
    expect(make(join(folder, 'weir.key'))).toEqual({ status: 0, stderr: '' });
    // A release has more files than a machine needs, so missing files are not an error.
    rmSync(join(folder, 'weir_1.tar'));
    expect(run(verification)).toBe(0);
    writeFileSync(join(folder, 'weir_1_amd64.deb'), 'another package');
    expect(run(verification)).not.toBe(0);
    writeFileSync(join(folder, 'SHA256SUMS'), sums().toString().toUpperCase());
    expect(run(verification)).not.toBe(0);
  });

  test('fails for an unreadable key, and deletes the signature of an earlier run', () => {
    addFiles();
    make(keyFile);
    expect(make(join(folder, 'no-key.pem')).status).not.toBe(0);
    expect(existsSync(signature())).toBe(false);
  });

  test('fails in a folder without packages', () => {
    const made = make('');
    expect(made.status).toBe(1);
    expect(made.stderr).toContain('has no package or image');
  });
});
