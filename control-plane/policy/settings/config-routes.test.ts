/**
 * Changes of the configuration over HTTP, and their effect on the file, the rows and responses. `test/e2e/config` tests
 * their effect on DNS threads.
 */
import { describe, expect, test } from '@jest/globals';
import { keysOf } from '../../../config/keys.ts';
import { keys } from '../../../config/sections.ts';
import { ConfigAnswer } from '../../../shared/api/settings-api.ts';
import { CONFIG_TEXT, configSuite } from '../../../test/support/parts/config-suite.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';
import { loadedConfig } from '../../../test/support/parts/test-config.ts';

const config = configSuite();
const { file, rows, patch, reload, read, audit, expectUntouched } = config;

/** Lines that differ: the line number, and the line before and after. */
function changedLines(before: string, after: string): [number, string | undefined, string | undefined][] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  return Array.from({ length: Math.max(old.length, now.length) }, (_, at) => at).flatMap((at) =>
    old[at] === now[at] ? [] : [[at + 1, old[at], now[at]]],
  );
}

describe('GET /config', () => {
  test('returns the source of each key', async () => {
    await patch({});
    const { sources, restart_required: restart } = await read();
    expect(sources).toMatchObject({
      'cache.max_bytes': 'file',
      'cache.min_ttl_secs': 'database',
      'dns.pools': 'database',
      'cache.max_ttl_secs': 'default',
      'server.workers': 'default',
      'auth.enabled': 'environment',
    });
    expect(Object.keys(sources)).toHaveLength(keysOf(keys).length);
    expect(restart).toEqual([]);
  });
});

describe.each(['PATCH', 'POST'])('%s /config', (method) => {
  const change = (json: unknown): Promise<TestAnswer> => config.api.send(method, '/api/config', { json });

  test('changes row and file, and keeps comments, order and style of the file', async () => {
    const answer = await change({
      cache: { min_ttl_secs: 7 },
      dns: { query_timeout_ms: 1500, rebinding_protection: false },
      blocking: { mode: 'nxdomain', ttl_secs: 20 },
    });
    expect([answer.status, answer.body]).toEqual([200, { success: true, restart_required: [] }]);
    expect(changedLines(loadedConfig(CONFIG_TEXT).text, await file()).slice(0, 4)).toEqual([
      [11, 'min_ttl_secs = 5 # seconds', 'min_ttl_secs = 7 # seconds'],
      [14, '\tquery_timeout_ms = 2500', '\tquery_timeout_ms = 1500'],
      [15, '#rebinding_protection = true', 'rebinding_protection = false'],
      [22, "mode = 'nodata'", 'mode = "nxdomain"'],
    ]);
    expect(await file()).toContain('mode = "nxdomain"\nttl_secs = 20\n');
    expect(await rows()).toMatchObject({
      'cache.min_ttl_secs': 7,
      'dns.query_timeout_ms': 1500,
      'dns.rebinding_protection': false,
      'blocking.mode': 'nxdomain',
    });
    expect(await read()).toMatchObject({ cache: { min_ttl_secs: 7 }, blocking: { ttl_secs: 20 } });
  });

  test('resets a key to its default in rows and file when its value is null', async () => {
    await change({ dns: { query_timeout_ms: 1500, block_private_ptr: false } });
    const values = { query_timeout_ms: null, block_private_ptr: null, pools: null };
    const gone = { dns: values, blocking: { mode: null }, cache: { min_ttl_secs: null, max_bytes: null } };
    expect((await change(gone)).body).toEqual({ success: true, restart_required: ['cache.max_bytes'] });
    const { dns, sources } = ConfigAnswer.parse((await config.api.send('GET', '/api/config')).body);
    expect(dns).toMatchObject({ query_timeout_ms: 3000, block_private_ptr: true });
    const names = [
      'dns.query_timeout_ms',
      'dns.pools',
      'blocking.mode',
      'cache.min_ttl_secs',
      'cache.max_bytes',
    ];
    for (const name of names) expect([name, sources[name]]).toEqual([name, 'default']);
    const text = await file();
    expect(text).toContain('# The house of the Does.');
    expect(text).not.toMatch(/query_timeout_ms|block_private_ptr|min_ttl_secs|max_bytes|^mode|"home"/mu);
    expect(Object.keys(await rows())).not.toContain('dns.query_timeout_ms');
    // A key without a value can be reset; a section or an unknown key cannot.
    expect((await change({ blocking: { mode: null } })).status).toBe(200);
    for (const bad of [{ dns: null }, { dns: { nonsense: null } }, { dns: { rate_limit: null } }])
      expect((await change(bad)).status).toBe(400);
  });

  test('writes a node key only to the file, and returns keys that need a restart', async () => {
    const answer = await change({ cache: { max_bytes: 4194304, max_ttl_secs: 60 } });
    expect(answer.body).toEqual({ success: true, restart_required: ['cache.max_bytes'] });
    expect(await file()).toContain('max_bytes = 4194304   # two megabytes');
    expect(await rows()).not.toHaveProperty(['cache.max_bytes']);
    expect(await read()).toMatchObject({
      cache: { max_bytes: 4194304 },
      restart_required: ['cache.max_bytes'],
    });
    expect(config.api.parts.configuration.current().cache.max_bytes).toBe(2097152);
    const back = await change({ cache: { max_bytes: 2097152 } });
    expect(back.body).toEqual({ success: true, restart_required: [] });
    expect((await read()).restart_required).toEqual([]);
  });

  test('replaces the pools completely', async () => {
    const pools = [
      { name: 'a', servers: ['tls://dns.example.org@192.0.2.1', '192.0.2.2:5353'], priority: 2 },
      { name: 'b', strategy: 'Balanced', servers: ['https://dns.example.org/dns-query'] },
    ];
    expect((await change({ dns: { pools } })).status).toBe(200);
    expect((await read()).dns['pools']).toMatchObject(pools);
    expect(await rows()).toMatchObject({ 'dns.pools': pools });
    expect(await file()).toContain('servers = ["tls://dns.example.org@192.0.2.1", "192.0.2.2:5353"]');
    expect((await reload()).status).toBe(200);
    expect((await read()).dns['pools']).toMatchObject(pools);
  });
});

describe.each(['PATCH', 'POST'])('a response of GET /config that is sent back with %s', (method) => {
  const send = (json: unknown, ifMatch?: string | string[]): Promise<TestAnswer> =>
    config.api.send(method, '/api/config', { json, headers: ifMatch ? { 'if-match': String(ifMatch) } : {} });
  const get = (): Promise<TestAnswer> => config.api.send('GET', '/api/config');

  test('changes nothing, and secrets are kept', async () => {
    await patch({ blocking: { catalog_url: 'https://weir:s3cr3t@example.org/services.json' } });
    await patch({ auth: { oidc: { client_secret: 's3cr3t-word' } }, cache: { max_bytes: 4194304 } });
    const before = [await file(), await rows(), await audit()];
    const shown = await get();
    const answer = await send(shown.body, shown.headers['etag']);
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, restart_required: ['cache.max_bytes'] },
    ]);
    expect(answer.headers['weir-revision']).toBeUndefined();
    expect(answer.headers['etag']).toBe(shown.headers['etag']);
    expect([await file(), await rows(), await audit()]).toEqual(before);
    expect((await get()).body).toEqual(shown.body);
  });

  test('changes only the edited keys, and is refused if the configuration has changed since it was read', async () => {
    const { body, headers } = await get();
    const { cache, ...others } = body as ConfigAnswer;
    const edited = (secs: number) => ({ ...others, cache: { ...cache, min_ttl_secs: secs } });
    const answers = await Promise.all([7, 8].map((secs) => send(edited(secs), headers['etag'])));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const made = answers[0]!.status === 200 ? 7 : 8;
    expect(await rows()).toMatchObject({ 'cache.min_ttl_secs': made });
    expect(await file()).toContain(`min_ttl_secs = ${made} #`);
    expect(await audit()).toMatchObject([{ subject: 'configuration cache.min_ttl_secs' }]);
    const after = await get();
    expect(after.headers['etag']).not.toBe(headers['etag']);
    expect(answers.find(({ status }) => status === 200)!.headers['etag']).toBe(after.headers['etag']);
  });

  test('is refused if an edited key can only be changed in the file, and the error names this key', async () => {
    await patch({});
    const before = await file();
    const { server, ...others } = (await get()).body as ConfigAnswer;
    const answer = await send({ ...others, server: { ...server, data_dir: '/elsewhere' } });
    expect([answer.status, answer.problem.errors]).toEqual([
      400,
      [{ path: 'server.data_dir', message: 'can only be changed in the configuration file' }],
    ]);
    await expectUntouched(before);
  });
});

describe('PATCH /config', () => {
  test('writes one audit entry with old and new values, and a revision for keys of dns and blocking', async () => {
    await patch({ cache: { min_ttl_secs: 7, max_bytes: 4194304 } });
    const mixed = await patch({ blocking: { mode: 'refused' }, database: { query_log_days: 9 } });
    await patch({ blocking: { mode: 'refused' } });
    const secret = 's3cr3t-word';
    await patch({ auth: { oidc: { client_secret: secret } } });
    const entries = await audit();
    expect(entries).toEqual([
      {
        ...{ actor: 'admin', action: 'changed', revision: null },
        subject: 'configuration cache.min_ttl_secs, cache.max_bytes',
        before: { 'cache.min_ttl_secs': 5, 'cache.max_bytes': 2097152 },
        after: { 'cache.min_ttl_secs': 7, 'cache.max_bytes': 4194304 },
      },
      expect.objectContaining({
        subject: expect.stringMatching(/^configuration (?=.*blocking\.mode)(?=.*database\.query_log_days)/),
        revision: expect.anything(),
      }),
      expect.objectContaining({ subject: 'configuration auth.oidc.client_secret' }),
    ]);
    expect(JSON.stringify(entries[1])).toMatch(/nodata.*refused/);
    expect(JSON.stringify(entries)).not.toContain('s3cr3t');
    expect(mixed.headers['weir-revision']).toBe(String(entries[1]!['revision']));
    expect(await file()).toContain(secret);
    expect((await config.api.send('GET', '/api/config')).text).not.toContain('s3cr3t');
  });

  test.each([
    { server: { data_dir: '/elsewhere' } },
    { server: { web_tls: { tls_cert_path: '/etc/ssl/other.pem' } } },
    { server: { web_tls: { tls_key_path: null } } },
    { server: { encrypted_dns: { tls_cert_path: '/etc/passwd', tls_key_path: '/etc/shadow' } } },
    { database: { url: ['postgres://weir:secret@198.51.100.9/weir'] } },
    { logging: { dnstap: 'unix:/run/other.sock' } },
  ])('refuses keys that name files and servers, even from the machine itself: %j', async (body) => {
    const before = await file();
    const answer = await patch(body);
    expect([answer.status, answer.problem.errors![0]!.message]).toEqual([
      400,
      'can only be changed in the configuration file',
    ]);
    expect(await file()).toBe(before);
  });

  test.each([
    ['a wrong type', { blocking: { ttl_secs: 'soon' } }, ['blocking.ttl_secs']],
    ['a number out of bounds', { cache: { max_bytes: 2 ** 50 } }, ['cache.max_bytes']],
    ['a fraction', { cache: { min_ttl_secs: 1.5 } }, ['cache.min_ttl_secs']],
    ['null in a list', { dns: { rebinding_allowlist: [null] } }, ['dns.rebinding_allowlist.0']],
    ['null as the password hash', { auth: { admin: { password_hash: null } } }, ['auth.admin.password_hash']],
    ['null as the list folders', { blocking: { list_dirs: null } }, ['blocking.list_dirs']],
    ['an unknown key', { cache: { min_ttl: 1 } }, ['cache.min_ttl']],
    ['a section that is a number', { cache: 7 }, ['cache']],
    ['an array for a section', { dns: [] }, ['dns']],
    ['an unknown section', { caches: {} }, ['caches']],
    [
      'many faults',
      { cache: { enabled: 1 }, dns: { ecs: 'x', pools: [] } },
      ['cache.enabled', 'dns.ecs', 'dns.pools'],
    ],
    [
      'a bad pool',
      { dns: { pools: [{ name: '', servers: ['x y'] }] } },
      ['dns.pools.0.name', 'dns.pools.0.servers.0'],
    ],
    ['keys that contradict each other', { cache: { max_ttl_secs: 4 } }, ['cache.min_ttl_secs']],
    ['a blocking mode without its address', { blocking: { mode: 'custom_ip' } }, ['blocking.mode']],
    [
      'two pools with the same name',
      { dns: { pools: [1, 2].map(() => ({ name: 'a', servers: ['192.0.2.1'] })) } },
      ['dns.pools.1.name'],
    ],
    ['a line break', { auth: { admin: { username: 'a"\n[server]\nworkers = 9' } } }, ['auth.admin.username']],
    ['a NUL', { dns: { pools: [{ name: 'a\0b', servers: ['192.0.2.1'] }] } }, ['dns.pools.0.name']],
    ['a lone surrogate', { auth: { admin: { username: 'a\ud800' } } }, ['auth.admin.username']],
    ['a password hash', { auth: { admin: { password_hash: '' } } }, ['auth.admin.password_hash']],
    [
      'a missing file',
      { dns: { dnssec_enabled: true, dnssec_trust_anchors: '/nowhere/anchors' } },
      ['dns.dnssec_trust_anchors'],
    ],
    ['the list folders', { blocking: { list_dirs: ['/'] } }, ['blocking.list_dirs']],
    [
      'a file whose content Weir would send',
      { auth: { oidc: { client_secret_file: '/etc/passwd' } } },
      ['auth.oidc.client_secret_file'],
    ],
    [
      'invalid anchors',
      { dns: { dnssec_enabled: true, dnssec_trust_anchors: '/etc/passwd' } },
      ['dns.dnssec_trust_anchors'],
    ],
    ['a device for a file', { dns: { upstream_ca_path: '/dev/zero' } }, ['dns.upstream_ca_path']],
    ['invalid certificates', { dns: { upstream_ca_path: '/etc/hostname' } }, ['dns.upstream_ca_path']],
  ])('refuses %s and changes nothing', async (_what, json, paths) => {
    await patch({});
    const before = await file();
    const answer = await patch({
      ...json,
      ...('cache' in json ? {} : { cache: { negative_max_ttl_secs: 1 } }),
    });
    expect([answer.status, answer.problem.errors!.map((error) => error.path).sort()]).toEqual([400, paths]);
    expect(answer.text).not.toContain('root:');
    await expectUntouched(before);
  });

  test.each([
    ['{"__proto__":{"enabled":false}}', '__proto__'],
    ['{"cache":{"__proto__":{"min_ttl_secs":1}}}', 'cache.__proto__'],
    ['{"dns":{"constructor":{"prototype":1}}}', 'dns.constructor'],
    ['{"dns":{"rate_limit":{"__proto__":null}}}', 'dns.rate_limit.__proto__'],
  ])('refuses the name of an object property as a key: %s', async (raw, wrong) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await config.api.send('PATCH', '/api/config', { raw, headers });
    expect([answer.status, answer.problem.errors!.map((error) => error.path)]).toEqual([400, [wrong]]);
  });

  test('writes quotes, backslashes and all letters so that the file has the same values', async () => {
    const username = String.raw`Doe "J" \n ' # = ü 💥`;
    const answer = await patch({
      dns: { pools: [{ name: username, servers: ['192.0.2.1'] }], local_records: [] },
    });
    expect(answer.status).toBe(200);
    expect((await reload()).status).toBe(200);
    expect((await read()).dns['pools']).toMatchObject([{ name: username }]);
  });

  test('keeps the credentials of a URL that is sent back masked, and never stores the mask', async () => {
    const url = 'https://weir:s3cr3t@example.org/services.json';
    await patch({ blocking: { catalog_url: url } });
    const shown = (await read()).blocking['catalog_url'];
    expect(shown).toBe('https://***@example.org/services.json');
    await patch({ blocking: { catalog_url: shown, ttl_secs: 9 } });
    expect(await rows()).toMatchObject({ 'blocking.catalog_url': url });
    const elsewhere = await patch({ blocking: { catalog_url: 'https://***@example.com/services.json' } });
    expect([elsewhere.status, elsewhere.problem.errors![0]!.path]).toEqual([400, 'blocking.catalog_url']);
  });

  test('refuses keys that environment variables set, and names the variable', async () => {
    await patch({});
    const before = await file();
    const answer = await patch({ auth: { enabled: true }, cache: { min_ttl_secs: 9 } });
    expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
    expect(answer.problem.detail).toContain('auth.enabled by WEIR_AUTH_ENABLED');
    await expectUntouched(before);
  });
});
