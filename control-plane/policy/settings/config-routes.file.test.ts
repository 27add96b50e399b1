/** The configuration file when it is reloaded, and changes that fail because of the file or the database. */
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { configSuite } from '../../../test/support/parts/config-suite.ts';

const config = configSuite();
const { path, file, rows, patch, reload, read, audit, expectUntouched } = config;

describe('PATCH /config', () => {
  test.each([
    ['is missing', () => rm(path()), 'could not read the configuration file'],
    [
      'cannot be replaced',
      () => mkdir(`${path()}.weir-${process.pid}.tmp`),
      'could not write the configuration file',
    ],
  ])('changes nothing if the file %s', async (_what, spoil, detail) => {
    await patch({});
    const before = await file();
    await spoil();
    const answer = await patch({ cache: { min_ttl_secs: 9, max_bytes: 4194304 } });
    expect([answer.status, answer.problem.detail]).toEqual([409, expect.stringContaining(detail)]);
    await writeFile(path(), before);
    await expectUntouched(before);
  });

  test('changes nothing if the file has faults, and reports them with their lines', async () => {
    await patch({});
    const before = await file();
    await writeFile(path(), before.replace('min_ttl_secs = 5', 'min_ttl_secs = "5"'));
    const answer = await patch({ cache: { max_bytes: 4194304 } });
    expect([answer.status, answer.problem.detail]).toEqual([
      409,
      expect.stringMatching(/has errors; .*weir\.toml:11: cache\.min_ttl_secs: expected/),
    ]);
    await writeFile(path(), before);
    await expectUntouched(before);
  });

  test('restores the file if the database refuses to commit the change', async () => {
    await patch({});
    const before = await file();
    const acceptAgain = await config.refuseAtEnd();
    const answer = await patch({ cache: { min_ttl_secs: 9, max_bytes: 4194304 } });
    await acceptAgain();
    expect(answer.status).toBe(500);
    await expectUntouched(before);
    expect((await patch({ cache: { min_ttl_secs: 9 } })).status).toBe(200);
  });

  test.each([
    [0o644, { auth: { oidc: { client_secret: 'whispered' } } }, 0o600],
    [0o640, { auth: { oidc: { client_secret: 'whispered' } } }, 0o640],
    [0o644, { blocking: { catalog_url: 'https://me:whispered@lists.example/services.json' } }, 0o600],
    [0o644, { blocking: { catalog_url: 'https://lists.example/services.json' } }, 0o644],
    [0o644, { cache: { max_bytes: 4194304 } }, 0o644],
  ])('for a file with mode %o, storing %j sets mode %o', async (before, change, after) => {
    await patch({});
    await chmod(path(), before);
    expect((await patch(change)).status).toBe(200);
    expect((await stat(path())).mode & 0o777).toBe(after);
  });

  test("refuses a user's name, in any letter case or form, as the administrator's name, by API and by file", async () => {
    await patch({});
    await config.suite.database.query(
      `INSERT INTO users (username, role, enabled) VALUES ('Vera', 'viewer', true)`,
    );
    const answers = [];
    for (const username of ['vERA', 'ｖｅｒａ', ' Vera', 've\u200bra'])
      answers.push(await patch({ auth: { admin: { username } } }));
    const text = await file();
    await writeFile(path(), text.replace('[auth]', '[auth]\nadmin.username = "VERA"'));
    answers.push(await reload());
    await writeFile(path(), text);
    await config.suite.database.query(`DELETE FROM users WHERE id <> 1`);
    expect(answers.map(({ status, problem }) => [status, problem.detail])).toEqual(
      ['vERA', 'ｖｅｒａ', ' Vera', 've\u200bra', 'VERA'].map((name) => [
        409,
        `a user named "${name}" already exists`,
      ]),
    );
    expect((await read()).auth).toMatchObject({ admin: { username: 'admin' } });
  });

  test('keeps all of many changes that are made at the same time over the API and in the file', async () => {
    await patch({});
    const text = await file();
    await writeFile(path(), text.replace('query_timeout_ms = 2500', 'query_timeout_ms = 2600'));
    const changes = [
      { cache: { min_ttl_secs: 11 } },
      { cache: { max_ttl_secs: 1200 } },
      { cache: { negative_max_ttl_secs: 13 } },
      { blocking: { ttl_secs: 14 } },
      { dns: { block_non_fqdn: true } },
      { cache: { max_bytes: 8388608 } },
    ];
    const answers = await Promise.all([...changes.map(patch), reload(), ...changes.map(patch), reload()]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const wanted = {
      cache: { min_ttl_secs: 11, max_ttl_secs: 1200, negative_max_ttl_secs: 13, max_bytes: 8388608 },
      blocking: { ttl_secs: 14 },
      dns: { block_non_fqdn: true, query_timeout_ms: 2600 },
    };
    expect(await read()).toMatchObject(wanted);
    expect(await rows()).toMatchObject({ 'cache.min_ttl_secs': 11, 'dns.query_timeout_ms': 2600 });
    await reload();
    expect(await read()).toMatchObject(wanted);
  });
});

describe('POST /config/reload', () => {
  test('applies only the keys that a user changed, added and removed in the file', async () => {
    await patch({ cache: { max_ttl_secs: 500 } });
    await config.suite.database.query(
      `UPDATE config_values SET value = '"refused"' WHERE key = 'blocking.mode'`, // Another node would do this.
    );
    const text = (await file())
      .replace('min_ttl_secs = 5 #', 'min_ttl_secs = 6 #')
      .replace('\tquery_timeout_ms = 2500\n', '')
      .replace('#rebinding_protection = true', 'rebinding_protection = false')
      .replace('max_bytes = 2097152', 'max_bytes = 4194304');
    await writeFile(path(), text);
    const answer = await reload();
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, restart_required: ['cache.max_bytes'] },
    ]);
    expect(await file()).toBe(text);
    expect(await read()).toMatchObject({
      cache: { min_ttl_secs: 6, max_ttl_secs: 500, max_bytes: 4194304 },
      dns: { query_timeout_ms: 3000, rebinding_protection: false },
      blocking: { mode: 'refused' },
    });
    expect(await rows()).not.toHaveProperty(['dns.query_timeout_ms']);
    expect((await audit()).at(-1)).toMatchObject({ actor: 'admin', revision: expect.anything() });
    const entries = (await audit()).length;
    await reload();
    expect(await audit()).toHaveLength(entries);
  });

  test.each([
    ['an invalid value', 'min_ttl_secs = 5', 'min_ttl_secs = -5', 'cache.min_ttl_secs'],
    ['an unknown key', 'min_ttl_secs = 5', 'min_ttl = 5', 'cache.min_ttl'],
    ['text that is not TOML', '[dns]', '[dns', 'syntax'],
  ])('changes nothing if the file has %s', async (_what, from, to, wrong) => {
    await patch({});
    const before = await file();
    await writeFile(path(), before.replace(from, to));
    const answer = await reload();
    expect([answer.status, answer.problem.errors!.map((error) => error.path)]).toEqual([400, [wrong]]);
    expect(answer.problem.detail).toMatch(/weir\.toml, line \d+: /);
    await writeFile(path(), before);
    await expectUntouched(before);
  });

  test('changes nothing if the file contradicts the rows of the database', async () => {
    await patch({});
    const before = await file();
    // Another node would write this row.
    await config.suite.database.query(`INSERT INTO config_values VALUES ('cache.max_ttl_secs', '10')`);
    await writeFile(path(), before.replace('min_ttl_secs = 5', 'min_ttl_secs = 50'));
    const answer = await reload();
    expect([answer.status, answer.problem.errors!.map((error) => error.path)]).toEqual([
      400,
      ['cache.min_ttl_secs'],
    ]);
    await writeFile(path(), before);
    await expectUntouched(before);
  });
});
