/** Keys of the configuration that a running node stores but does not apply. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { editToml } from '../../../config/edit-toml.ts';
import { keysOf } from '../../../config/keys.ts';
import { isFileOnly, treeOf, valuesOf } from '../../../config/layers.ts';
import type { Values } from '../../../config/layers.ts';
import { keys } from '../../../config/sections.ts';
import { RESTART_KEYS } from '../../../shared/api/settings-api.ts';
import type { ConfigAnswer } from '../../../shared/api/settings-api.ts';
import { type Rows, RunningApi, type TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { configRoutes } from './config-routes.ts';

/** Keys that need a restart, each with another value, and further keys. */
const RESTARTED: readonly { key: string; to: unknown; alongside?: Values }[] = [
  { key: 'server.alt_compat', to: true },
  { key: 'server.dns_port', to: 15353 },
  { key: 'server.bind_address', to: ['127.0.0.2'] },
  { key: 'server.workers', to: 7 },
  { key: 'server.node_name', to: 'other' },
  { key: 'server.site', to: 'cabin' },
  { key: 'server.start_unfiltered', to: false },
  { key: 'server.data_dir', to: '/var/lib/other' },
  { key: 'server.trusted_proxies', to: ['192.0.2.1'] },
  { key: 'server.proxy_protocol_trusted', to: ['192.0.2.1'] },
  {
    key: 'server.proxy_protocol_enabled',
    to: true,
    alongside: { 'server.proxy_protocol_trusted': ['192.0.2.1'] },
  },
  { key: 'server.web_tls.enabled', to: true },
  { key: 'server.web_tls.tls_cert_path', to: '/other/cert.pem' },
  { key: 'server.web_tls.tls_key_path', to: '/other/key.pem' },
  { key: 'server.encrypted_dns.dot_enabled', to: true },
  { key: 'server.encrypted_dns.dot_port', to: 10853 },
  { key: 'server.encrypted_dns.doh_enabled', to: true },
  { key: 'server.encrypted_dns.doh_port', to: 10443 },
  {
    key: 'server.encrypted_dns.tls_cert_path',
    to: '/other/cert.pem',
    alongside: { 'server.encrypted_dns.tls_key_path': '/other/key.pem' },
  },
  {
    key: 'server.encrypted_dns.tls_key_path',
    to: '/other/key.pem',
    alongside: { 'server.encrypted_dns.tls_cert_path': '/other/cert.pem' },
  },
  { key: 'database.url', to: ['postgres://weir@db.example.org/weir'] },
  {
    key: 'database.owner_url',
    to: ['postgres://owner@db.example.org/weir'],
    alongside: { 'database.url': ['postgres://weir@db.example.org/weir'] },
  },
  { key: 'database.password_file', to: '/run/secrets/weir-database' },
  { key: 'database.owner_password_file', to: '/run/secrets/weir-database-owner' },
  { key: 'database.sslmode', to: 'verify-full' },
  { key: 'database.sslrootcert', to: '/etc/weir/authority.pem' },
  { key: 'cache.max_bytes', to: 4194304 },
  { key: 'logging.dnstap', to: 'unix:/run/dnstap.sock' },
];

let suite: SuiteDatabase;

/** Changes the file, and reloads it, like an administrator. */
async function editFile(node: RunningApi, values: Values): Promise<TestAnswer> {
  const path = join(node.folder, 'weir.toml');
  const changes = Object.entries(values).map(([name, value]) => ({ path: name.split('.'), value }));
  await writeFile(path, editToml(await readFile(path, 'utf8'), changes)!);
  return node.send('POST', '/api/config/reload');
}

const rows: Rows = (parts) => configRoutes({ ...parts, testUpstreams: async () => new Map() });
serveSuite(rows, (served) => ({ suite } = served));

describe('RESTART_KEYS', () => {
  test('contains exactly the keys that the table of keys marks as needing a restart', () => {
    const marked = keysOf(keys).filter(({ notes }) => notes.restart === true);
    expect([...RESTART_KEYS].sort()).toEqual(marked.map(({ path: steps }) => steps.join('.')).sort());
  });
});

describe('a configuration key that needs a restart', () => {
  test('is stored in the file and reported as pending, but is not active', async () => {
    for (const { key, to, alongside } of RESTARTED) {
      const node = await RunningApi.start(suite.database, rows, { toml: 'auth.enabled = false' });
      const values = { ...alongside, [key]: to };
      const sent = Object.keys(values).every((name) => !isFileOnly(name))
        ? await node.send('PATCH', '/api/config', { json: treeOf(values) })
        : await editFile(node, values);
      const { body } = await node.send('GET', '/api/config');
      const text = await readFile(join(node.folder, 'weir.toml'), 'utf8');
      const running = valuesOf(node.parts.configuration.current())[key];
      await node.close();
      const names = Object.keys(values).sort();
      expect([
        key,
        sent.status,
        (sent.body as { restart_required: string[] }).restart_required.sort(),
      ]).toEqual([...[key, 200], names]);
      expect((body as ConfigAnswer).restart_required.sort()).toEqual(names);
      expect(text).toContain(`${key.split('.').at(-1)!} = ${JSON.stringify(to)}`);
      expect(running).not.toEqual(to);
    }
    // The environment of the suite sets the port.
    const names = ['server.web_port', ...RESTARTED.map(({ key }) => key)];
    expect(names.sort()).toEqual([...RESTART_KEYS].sort());
  });
});
