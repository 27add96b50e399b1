/**
 * Configuration with a file that belongs to root while Weir runs as another user.
 *
 * @needs root
 */
import { chmod, chown, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { CONFIG_TEXT, configSuite } from '../../../test/support/parts/config-suite.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';

/** The user who runs the database server, because new connections must reach its socket. */
let otherUser: number;
/** Id of a group without members. */
const OTHER_GROUP = 64999;

const config = configSuite();
const { path, file, rows, patch, reload, read, audit } = config;

beforeEach(async () => {
  const sql = 'SHOW unix_socket_directories';
  const shown = await asOwner<{ unix_socket_directories: string }>(config.suite.database, sql);
  otherUser = (await stat(shown.rows[0]!.unix_socket_directories)).uid;
  await patch({});
  await chmod(config.api.folder, 0o777);
  // Local changes only apply if their file and its directory have the same owner.
  await chown(config.api.folder, otherUser, -1);
  expect(await file()).toContain(CONFIG_TEXT);
});

/** Runs `work` as a user who does not own the configuration file. */
async function asOther<T>(work: () => Promise<T>): Promise<T> {
  process.seteuid!(otherUser);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}

const localText = (): Promise<string> => readFile(join(config.api.folder, 'weir.local.toml'), 'utf8');
const sourceOf = async (key: string): Promise<string | undefined> => (await read()).sources[key];

describe('PATCH /config of a configuration file that Weir may not write', () => {
  test('stores node keys and cluster keys as local changes, active and audited like other changes', async () => {
    const before = await file();
    const answer = await asOther(() => patch({ cache: { max_bytes: 4194304, min_ttl_secs: 7 } }));
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, restart_required: ['cache.max_bytes'] },
    ]);
    expect(await file()).toBe(before);
    expect(await localText()).toMatch(/max_bytes = 4194304[^]*min_ttl_secs = 7/);
    const { uid, mode } = await stat(join(config.api.folder, 'weir.local.toml'));
    expect([uid, mode & 0o777]).toEqual([otherUser, 0o600]);
    expect((await read()).cache).toMatchObject({ max_bytes: 4194304, min_ttl_secs: 7 });
    expect([await sourceOf('cache.max_bytes'), await sourceOf('cache.min_ttl_secs')]).toEqual([
      'local_file',
      'database',
    ]);
    expect(await audit()).toMatchObject([{ action: 'changed', after: { 'cache.max_bytes': 4194304 } }]);
    expect(await readdir(config.api.folder)).not.toContainEqual(expect.stringMatching(/\.tmp$/));
  });

  test('resets a key to its default in the local changes, whatever the file contains', async () => {
    expect((await asOther(() => patch({ cache: { max_bytes: null } }))).status).toBe(200);
    expect((await read()).sources['cache.max_bytes']).not.toBe('file');
    expect((await read()).cache['max_bytes']).toBe(67108864);
  });

  test('prefers a key that a user edits in the file after the local change', async () => {
    await asOther(() => patch({ cache: { max_bytes: 4194304, min_ttl_secs: 7 } }));
    const text = await file();
    await writeFile(
      path(),
      text.replace('2097152', '8388608').replace('min_ttl_secs = 5', 'min_ttl_secs = 9'),
    );
    expect((await reload()).status).toBe(200);
    expect((await read()).cache).toMatchObject({ max_bytes: 8388608, min_ttl_secs: 9 });
    expect(await sourceOf('cache.max_bytes')).toBe('file');
    expect(await rows()).toMatchObject({ 'cache.min_ttl_secs': 9 });
    // A later local change replaces the value again.
    await asOther(() => patch({ cache: { max_bytes: 4194304 } }));
    expect((await read()).cache).toMatchObject({ max_bytes: 4194304, min_ttl_secs: 9 });
  });

  test('removes a local change when the file becomes writable and the key is changed again', async () => {
    await asOther(() => patch({ cache: { max_bytes: 4194304, min_ttl_secs: 7 } }));
    expect((await patch({ cache: { max_bytes: 8388608 } })).status).toBe(200);
    expect(await file()).toContain('max_bytes = 8388608');
    expect(await localText()).not.toContain('max_bytes =');
    expect(await sourceOf('cache.max_bytes')).toBe('file');
    await patch({ cache: { min_ttl_secs: 8 } });
    expect(await readdir(config.api.folder)).not.toContain('weir.local.toml');
  });

  test("stores local changes if Weir owns the file but is not a member of the file's group", async () => {
    await chown(path(), otherUser, 0);
    const before = await file();
    const gid = process.getegid!();
    process.setegid!(OTHER_GROUP);
    const answer = await asOther(() => patch({ cache: { max_bytes: 4194304 } })).finally(() =>
      process.setegid!(gid),
    );
    expect(answer.status).toBe(200);
    expect(await file()).toBe(before);
    expect(await localText()).toContain('max_bytes = 4194304');
    expect(await readdir(config.api.folder)).not.toContainEqual(expect.stringMatching(/\.tmp$/));
  });

  test('stores all of many concurrent changes', async () => {
    const changes = [11, 12, 13, 14].map((ttl) => ({ blocking: { ttl_secs: ttl } }));
    const others = [
      { cache: { max_bytes: 4194304 } },
      { cache: { min_ttl_secs: 6 } },
      { dns: { ecs: 'forward' } },
    ];
    const answers = await asOther(() => Promise.all<TestAnswer>([...changes, ...others].map(patch)));
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(200));
    expect(await read()).toMatchObject({
      cache: { max_bytes: 4194304, min_ttl_secs: 6 },
      dns: { ecs: 'forward' },
      blocking: { ttl_secs: expect.any(Number) },
    });
    const stored = (await read()).blocking['ttl_secs'];
    expect(await localText()).toContain(`ttl_secs = ${String(stored)}`);
  });

  test('restores the local changes if the database refuses to commit a change', async () => {
    await asOther(() => patch({ cache: { max_bytes: 4194304 } }));
    const before = await localText();
    const acceptAgain = await config.refuseAtEnd();
    const answer = await asOther(() => patch({ cache: { min_ttl_secs: 9, max_bytes: 8388608 } }));
    await acceptAgain();
    expect(answer.status).toBe(500);
    expect(await localText()).toBe(before);
    expect((await read()).cache).toMatchObject({ max_bytes: 4194304, min_ttl_secs: 5 });
  });

  test('changes nothing if the file of local changes is damaged, and reports the line', async () => {
    await writeFile(join(config.api.folder, 'weir.local.toml'), '[server]\ndata_dir = "/etc"\n');
    const answer = await asOther(() => patch({ cache: { max_bytes: 4194304 } }));
    expect([answer.status, answer.problem.detail]).toEqual([
      409,
      expect.stringMatching(
        /weir\.local\.toml:2: server\.data_dir: can only be set in the configuration file/,
      ),
    ]);
  });
});
