import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { choosePostgresAccount, spawnIdentity } from './postgres-account.ts';
import { EmbeddedDatabaseUnsupported, findPostgresPackage, prepareRuntime } from './postgres-runtime.ts';

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

describe('findPostgresPackage()', () => {
  test('findPostgresPackage() names database.url where there are no binaries for the platform', () => {
    const find = (): unknown => findPostgresPackage('linux', 'mips');
    expect(find).toThrow(EmbeddedDatabaseUnsupported);
    expect(find).toThrow('database.url');
  });
});

describe('prepareRuntime()', () => {
  test('prepareRuntime() copies binaries that the server’s user cannot reach, with their links', () => {
    const privateDir = join(root, 'private');
    mkdirSync(privateDir, { mode: 0o755 });
    chmodSync(join(root, 'package'), 0o700);
    const runtime = prepareRuntime({ nativeDir, version: '18.0.0' }, stranger, privateDir);
    expect(runtime).toBe(join(privateDir, 'runtime-18.0.0'));
    expect(versionOf(runtime)).toMatch(/^initdb \(PostgreSQL\) \d+/);
    expect(prepareRuntime({ nativeDir, version: '18.0.0' }, stranger, privateDir)).toBe(runtime);
  });

  test('prepareRuntime() makes the missing library links in a package that can be used where it is', () => {
    chmodSync(join(root, 'package'), 0o755);
    expect(prepareRuntime({ nativeDir, version: '18.0.0' }, account, join(root, 'unused'))).toBe(nativeDir);
    expect(versionOf(nativeDir)).toMatch(/^initdb \(PostgreSQL\) \d+/);
  });
});
