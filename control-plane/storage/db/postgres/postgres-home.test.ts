import { afterEach, describe, expect, test } from '@jest/globals';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { readAccounts } from '../../../host/accounts/system-users.ts';
import { canTraverse, choosePostgresAccount } from './postgres-account.ts';
import { openPostgresHome } from './postgres-home.ts';

const isRoot = process.geteuid?.() === 0;
const stranger = { name: 'stranger', uid: 64999, gid: 64999, isSelf: false };
const dirs: string[] = [];

/** A data directory below a directory with this mode. */
function dataDirBehind(mode: number): { root: string; dataDir: string } {
  const root = makeTempDir();
  dirs.push(root);
  const dataDir = join(root, 'closed', 'data');
  mkdirSync(dataDir, { recursive: true });
  chmodSync(root, 0o755);
  chmodSync(join(root, 'closed'), mode);
  return { root, dataDir };
}
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describe('choosePostgresAccount()', () => {
  test('never chooses root', () => {
    const account = choosePostgresAccount('/nonexistent', '/');
    expect(account.uid).not.toBe(0);
    expect(account.isSelf).toBe(!isRoot);
    // `nobody` is the last choice, because other services run as this user.
    const others = ['weir', 'postgres'];
    if (isRoot && readAccounts().some(({ name }) => others.includes(name)))
      expect(others).toContain(account.name);
  });
});

describe('canTraverse()', () => {
  test('detects a parent folder that other users cannot enter', () => {
    expect(canTraverse(dataDirBehind(0o700).dataDir, stranger)).toBe(false);
    expect(canTraverse(dataDirBehind(0o711).dataDir, stranger)).toBe(true);
  });

  test('is true without any check if the account is the user that Weir itself runs as', () => {
    expect(canTraverse(dataDirBehind(0o700).dataDir, { ...stranger, isSelf: true })).toBe(true);
  });
});

describe('openPostgresHome()', () => {
  test('creates the cluster in the data directory if the account of PostgreSQL can access it', () => {
    const { root, dataDir } = dataDirBehind(0o711);
    const home = openPostgresHome(dataDir, join(root, 'elsewhere'));
    expect(home).toMatchObject({ dir: join(dataDir, 'postgres'), isElsewhere: false });
    expect(statSync(home.dir).uid).toBe(home.account.uid);
    expect(statSync(home.dir).mode & 0o777).toBe(0o700);
  });

  test('creates the cluster elsewhere if only root can access the data directory, and finds it again', () => {
    const { root, dataDir } = dataDirBehind(0o700);
    const home = openPostgresHome(dataDir, join(root, 'elsewhere'));
    expect(home.isElsewhere).toBe(isRoot);
    expect(home.dir.startsWith(isRoot ? join(root, 'elsewhere') : dataDir)).toBe(true);
    expect(existsSync(join(dataDir, 'postgres.location'))).toBe(isRoot);
    if (isRoot) expect(readFileSync(join(dataDir, 'postgres.location'), 'utf8')).toBe(`${home.dir}\n`);
    chmodSync(join(root, 'closed'), 0o711);
    expect(openPostgresHome(dataDir, join(root, 'elsewhere')).dir).toBe(home.dir);
  });

  test('does not follow a symbolic link in place of the file that contains the location', () => {
    const { root, dataDir } = dataDirBehind(0o711);
    writeFileSync(join(root, 'victim'), join(root, 'chosen'));
    symlinkSync(join(root, 'victim'), join(dataDir, 'postgres.location'));
    expect(() => openPostgresHome(dataDir, join(root, 'elsewhere'))).toThrow(/read .*postgres\.location/);
    expect(existsSync(join(root, 'chosen'))).toBe(false);
  });

  test('refuses a location file of another user, who could choose where root creates a folder', () => {
    if (!isRoot) return;
    const { root, dataDir } = dataDirBehind(0o711);
    const pointer = join(dataDir, 'postgres.location');
    writeFileSync(pointer, join(root, 'chosen'));
    chownSync(pointer, stranger.uid, stranger.gid);
    expect(() => openPostgresHome(dataDir, join(root, 'elsewhere'))).toThrow(/may not choose/);
    expect(existsSync(join(root, 'chosen'))).toBe(false);
  });
});
