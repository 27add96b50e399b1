import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { choosePostgresAccount, spawnIdentity } from './postgres-account.ts';
import {
  dropRuntimes,
  EmbeddedDatabaseUnsupported,
  findPostgresPackage,
  keptRuntime,
  prepareRuntime,
} from './postgres-runtime.ts';

const root = makeTempDir();
const nativeDir = join(root, 'package', 'native');
const account = choosePostgresAccount('/nonexistent', '/');
const stranger = { name: 'stranger', uid: 64999, gid: 64999, isSelf: false };

/** A package as npm leaves it when it may not run install scripts: without links. */
beforeAll(() => {
  cpSync(findPostgresPackage().nativeDir, nativeDir, { recursive: true, verbatimSymlinks: true });
  for (const name of readdirSync(join(nativeDir, 'lib'))) {
    const path = join(nativeDir, 'lib', name);
    if (lstatSync(path).isSymbolicLink()) rmSync(path);
  }
  chmodSync(root, 0o755);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function versionOf(runtime: string): string {
  const run = spawnSync(join(runtime, 'bin', 'initdb'), ['--version'], {
    cwd: '/',
    ...spawnIdentity(account),
  });
  return `${run.stdout.toString()}${run.stderr.toString()}`;
}

function inodeOfServer(runtime: string): number {
  return statSync(join(runtime, 'bin', 'postgres')).ino;
}

describe('findPostgresPackage()', () => {
  test('suggests database.url in its error if there are no binaries for the platform', () => {
    const find = (): unknown => findPostgresPackage('linux', 'mips');
    expect(find).toThrow(EmbeddedDatabaseUnsupported);
    expect(find).toThrow('database.url');
  });
});

describe('prepareRuntime()', () => {
  test('copies binaries that the user of PostgreSQL cannot access, with their symbolic links', () => {
    const privateDir = join(root, 'private');
    mkdirSync(privateDir, { mode: 0o755 });
    chmodSync(join(root, 'package'), 0o700);
    const runtime = prepareRuntime({ nativeDir, version: '18.0.0' }, stranger, privateDir);
    expect(runtime).toBe(join(privateDir, 'runtime-18.0.0'));
    expect(versionOf(runtime)).toMatch(/^initdb \(PostgreSQL\) \d+/);
    expect(inodeOfServer(runtime)).not.toBe(inodeOfServer(nativeDir));
    expect(prepareRuntime({ nativeDir, version: '18.0.0' }, stranger, privateDir)).toBe(runtime);
  });

  test('creates hard links to accessible binaries, which stay usable after the package is deleted', () => {
    chmodSync(join(root, 'package'), 0o755);
    const packageDir = join(root, 'old-package');
    cpSync(nativeDir, packageDir, { recursive: true, verbatimSymlinks: true });
    const inode = inodeOfServer(packageDir);
    const runtime = prepareRuntime({ nativeDir: packageDir, version: '18.1.0' }, account, root);
    rmSync(packageDir, { recursive: true });
    expect(inodeOfServer(runtime)).toBe(inode);
    expect(versionOf(runtime)).toMatch(/^initdb \(PostgreSQL\) \d+/);
  });
});

describe('keptRuntime() and dropRuntimes()', () => {
  const privateDir = join(root, 'kept');
  const names = ['runtime-17.9.0', 'runtime-17.10.0-beta.17', 'runtime-18.0.0', 'runtime-17.11.0.new', 'run'];
  beforeAll(() => {
    for (const name of names) mkdirSync(join(privateDir, name), { recursive: true });
  });

  test('keptRuntime() finds the newest complete runtime of a major version', () => {
    expect(keptRuntime(privateDir, 17)).toBe(join(privateDir, 'runtime-17.10.0-beta.17'));
    expect(keptRuntime(privateDir, 16)).toBeUndefined();
  });

  test('dropRuntimes() keeps runtimes in use, and other directories', () => {
    dropRuntimes(privateDir, [join(privateDir, 'runtime-18.0.0')]);
    expect(readdirSync(privateDir).sort()).toEqual(['run', 'runtime-17.11.0.new', 'runtime-18.0.0']);
  });
});
