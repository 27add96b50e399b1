import { describe, expect, test } from '@jest/globals';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replacePasswordHash } from './replace-hash.ts';
import { rewriteFile } from './rewrite-file.ts';

const OLD = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b1dWRWJTmaasd';
const NEW = '$argon2id$v=19$m=32768,p=1,t=3$YW5vdGhlcnNhbHQ$zvW38jpzr+Ka6/ZnMwfO3trGFsC';

describe('replacePasswordHash()', () => {
  test.each([
    [
      'a table',
      (hash: string) => `[auth.admin]\nusername = "frida" # me\npassword_hash = "${hash}" # set in May\n`,
    ],
    ['a literal string', (hash: string) => `[auth.admin]\npassword_hash='${hash}'`],
    ['a long string', (hash: string) => `[auth.admin]\npassword_hash = """\\\n  ${hash}"""\n`],
    ['a dotted key', (hash: string) => `auth.admin.password_hash = "${hash}"\n[server]\nweb_port = 1\n`],
    ['an inline table', (hash: string) => `[auth]\nadmin = { username = "x", password_hash = "${hash}" }\n`],
    ['lines with CRLF', (hash: string) => `# ä\r\n[auth.admin]\r\n\tpassword_hash = "${hash}"\r\n`],
  ])('changes the value in %s, and not an octet beside it', (_what, write) => {
    expect(replacePasswordHash(write(OLD), OLD, NEW)).toBe(write(NEW));
  });

  test('leaves comments alone that quote the same hash', () => {
    const write = (hash: string): string =>
      `# was password_hash = "${OLD}"\n[auth.admin]\npassword_hash = "${hash}"\n#password_hash = "${OLD}"\n`;
    expect(replacePasswordHash(write(OLD), OLD, NEW)).toBe(write(NEW));
  });

  test.each([
    ['another hash', `[auth.admin]\npassword_hash = "${NEW}"`],
    ['none', `# password_hash = "${OLD}"`],
    ['nothing', ''],
    ['faults', `[auth.admin]\npassword_hash = "${OLD}"\n[server]\nweb_port = "x"`],
    ['the hash written in escapes', `[auth.admin]\npassword_hash = "\\u0024${OLD.slice(1)}"`],
  ])('refuses a text with %s', (_what, text) => {
    expect(replacePasswordHash(text, OLD, NEW)).toBeNull();
  });
});

describe('rewriteFile()', () => {
  async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-rewrite-'));
    try {
      await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  test.each([0o600, 0o640, 0o444])('keeps the mode %o', (mode) =>
    inFolder(async (folder) => {
      const path = join(folder, 'weir.toml');
      await writeFile(path, 'old');
      await chmod(path, mode);
      await rewriteFile(path, 'new');
      expect([(await stat(path)).mode & 0o777, await readFile(path, 'utf8')]).toEqual([mode, 'new']);
      expect(await readdir(folder)).toEqual(['weir.toml']);
    }),
  );

  test('writes where a link leads, and keeps the link', () =>
    inFolder(async (folder) => {
      await mkdir(join(folder, 'real'));
      await writeFile(join(folder, 'real', 'weir.toml'), 'old', { mode: 0o600 });
      await symlink('real/weir.toml', join(folder, 'weir.toml'));
      await rewriteFile(join(folder, 'weir.toml'), 'new');
      expect((await lstat(join(folder, 'weir.toml'))).isSymbolicLink()).toBe(true);
      expect(await readFile(join(folder, 'real', 'weir.toml'), 'utf8')).toBe('new');
    }));

  test('changes nothing where a file beside it is in the way, and says so', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'weir.toml');
      await writeFile(path, 'old');
      await mkdir(`${path}.weir-${process.pid}.tmp`);
      await expect(rewriteFile(path, 'new')).rejects.toThrow('EEXIST');
      expect(await readFile(path, 'utf8')).toBe('old');
    }));
});
