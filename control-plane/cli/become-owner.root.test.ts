/** @needs root */
import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../test/support/parts/test-database.ts';

const OWNER = { uid: 64999, gid: 64998 };

/** Writes the file `name` in a process of root that has switched to the owner of the directory; returns the output. */
function writeIn(dataDir: string, name: string): unknown {
  const program = `import { writeFileSync } from 'node:fs';
    import { becomeOwnerOf } from ${JSON.stringify(new URL('./become-owner.ts', import.meta.url).href)};
    becomeOwnerOf(${JSON.stringify(dataDir)});
    let failure = null;
    try { writeFileSync(${JSON.stringify(join(dataDir, name))}, 'written'); } catch (error) { failure = error.code; }
    const users = [process.getuid(), process.geteuid(), process.getgid(), process.getgroups()];
    console.log(JSON.stringify({ users, failure }));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', program], {
      encoding: 'utf8',
    }),
  );
}

test('becomeOwnerOf() keeps a command of root from following a link to a file that the data owner may not write', () => {
  const root = makeTempDir();
  try {
    chmodSync(root, 0o755);
    const [dataDir, victim] = [join(root, 'data'), join(root, 'victim')];
    writeFileSync(victim, 'untouched', { mode: 0o600 });
    mkdirSync(dataDir, { mode: 0o700 });
    chownSync(dataDir, OWNER.uid, OWNER.gid);
    symlinkSync(victim, join(dataDir, 'postgres.password'));
    const users = [OWNER.uid, OWNER.uid, OWNER.gid, [OWNER.gid]];
    expect(writeIn(dataDir, 'postgres.password')).toEqual({ users, failure: 'EACCES' });
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
    expect(writeIn(dataDir, 'new')).toEqual({ users, failure: null });
    expect(lstatSync(join(dataDir, 'new')).uid).toBe(OWNER.uid);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test('becomeOwnerOf() switches to the owner of the link if a data directory is a link to a folder of root', () => {
  const root = makeTempDir();
  try {
    chmodSync(root, 0o755);
    const [dataDir, victim] = [join(root, 'data'), join(root, 'victim')];
    mkdirSync(victim);
    symlinkSync(victim, dataDir);
    lchownSync(dataDir, OWNER.uid, OWNER.gid);
    expect(writeIn(dataDir, 'postgres.password')).toMatchObject({ failure: 'EACCES' });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test.each(['a folder of root', 'no folder'])('becomeOwnerOf() stays root for %s', (what) => {
  const root = makeTempDir();
  try {
    const dataDir = what === 'no folder' ? join(root, 'none') : root;
    expect(writeIn(dataDir, 'new')).toMatchObject({ users: [0, 0, 0, expect.any(Array)] });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
