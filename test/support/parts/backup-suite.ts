/** Backup and restore over HTTP and a real database. */
import { expect } from '@jest/globals';
import { KINDS } from '../../../control-plane/transfer/backup/backup-kinds.ts';
import { withSecrets } from '../../../control-plane/transfer/backup/secret-parts.ts';
import { BackupFile, RestoreAnswer } from '../../../shared/api/policy/backup-api.ts';
import type { BackupText } from '../../../shared/api/policy/backup-api.ts';
import { everyRoute } from './every-route.ts';
import type { RunningApi, TestAnswer } from './running-api.ts';
import { serveSuite } from './served-suite.ts';
import type { SuiteDatabase } from './suite-database.ts';

export let suite: SuiteDatabase;
export let api: RunningApi;

/** Registers the hooks of a suite. */
export function serveBackups(): void {
  serveSuite(everyRoute(), (served) => ({ suite, api } = served));
}

/** Sends a request that must succeed. */
export async function make(method: string, path: string, json: unknown): Promise<Record<string, unknown>> {
  const answer = await api.send(method, `/api${path}`, { json });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.body as Record<string, unknown>;
}

/** Sets at least one setting of every kind. */
export async function fill(): Promise<void> {
  const kids = (await make('POST', '/groups', { name: 'Kids', comment: 'two' }))['id'];
  await make('POST', '/groups', { name: 'Guests', enabled: false });
  await make('PUT', '/groups/1', { name: 'Everybody' });
  await make('POST', '/clients', { mac_address: '02:00:5e:10:00:01', name: 'tablet', group_id: kids });
  await make('POST', '/clients', { client_key: 'phone', group_id: kids });
  await make('POST', '/clients', { ip_address: '192.0.2.8', client_key: 'tv', exclude_from_stats: true });
  await make('POST', '/clients', { ip_address: '2001:db8::7', group_id: kids });
  await make('POST', '/clients', { ip_address: '192.0.2.9', exclude_from_log: true });
  await make('POST', '/client-subnets', { subnet_cidr: '198.51.100.0/24', group_id: kids, comment: 'c' });
  await suite.database.query(
    `INSERT INTO list_sources (id, kind, name, url, comment, subdomains) VALUES
       (70, 'block', 'ads', 'https://me:hunter2@lists.example/ads', 'c', true),
       (71, 'allow', 'good', 'https://lists.example/good?token=hunter2', '', false)`,
  );
  await suite.database.query('INSERT INTO list_source_groups VALUES (70, $1), (70, 1)', [kids]);
  await make('POST', '/managed-domains', { domain: '*.ads.example', group_id: kids, comment: "it's" });
  await make('POST', '/managed-domains', { domain: 'ok.example', action: 'allow', enabled: false });
  await make('POST', '/regex-filters', { pattern: '^track[0-9]+\\.', action: 'deny' });
  const service = { name: 'Games', category: 'adult', domains: ['games.example', 'b.example'] };
  const custom = (await make('POST', '/custom-services', service))['service_id'];
  await make('POST', '/services', { service_id: custom, group_id: kids });
  await make('POST', `/safe-search/configs/${kids as number}`, {
    engine: 'youtube',
    youtube_mode: 'moderate',
  });
  const night = (await make('POST', '/schedule-profiles', { name: 'Night', timezone: 'Europe/Berlin' }))[
    'id'
  ];
  const slot = { days: 127, start_time: '21:30', end_time: '06:00', action: 'block_all' };
  await make('POST', `/schedule-profiles/${night as number}/slots`, slot);
  await make('POST', `/schedule-profiles/${night as number}/slots`, { ...slot, days: 1, end_time: '24:00' });
  await make('PUT', `/groups/${kids as number}/schedule`, { profile_id: night });
  await make('POST', '/services', { service_id: 'netflix', group_id: 1, profile_id: night });
  await make('POST', '/local-records', { hostname: 'nas', domain: 'home.test', value: '192.0.2.9', ttl: 60 });
  await make('POST', '/local-records', { fqdn: '*.a.b.test', record_type: 'CNAME', value: 'nas.home.test' });
  await make('POST', '/local-records', { fqdn: 'b.test', record_type: 'TXT', value: 'a "b" \\\\ c' });
  await make('POST', '/local-records', { fqdn: 'b.test', record_type: 'MX', value: '10 nas.home.test' });
  await make('POST', '/forward-zones', {
    zone: '192.0.2.0/24',
    servers: ['192.0.2.53', 'tls://dns.example@192.0.2.54'],
  });
  await make('PUT', '/settings', { local_domain: 'home.test', local_dns_server: '192.0.2.1:53' });
  await make('POST', '/api-tokens', { name: 'Grafana', role: 'viewer' });
  await make('POST', '/grants', { domain: 'games.example', group_id: kids, secs: 600 });
  await suite.database.query(`INSERT INTO users (username, role) VALUES ('vera', 'viewer')`);
  await suite.database.query(
    `WITH u AS (INSERT INTO users (username, role) VALUES ('frida', 'family') RETURNING id)
     INSERT INTO user_clients SELECT u.id, c.id FROM u, clients c WHERE c.name = 'tablet'`,
  );
  await suite.database.query(
    `INSERT INTO second_factors (user_id, secret, confirmed_at)
     SELECT id, '\\x0102030405060708090a', now() FROM users WHERE username = 'vera'`,
  );
}

/** The backup of a node without any settings. */
export const EMPTY: BackupText = {
  ...{ format: 'weir-backup', version: 2, created_at: '2026-01-15T12:00:00.000Z', weir: '0', node: 'a' },
  has_secrets: true,
  groups: [{ name: 'Default', is_default: true }],
  ...Object.fromEntries(KINDS.slice(1).map(({ name }) => [name, name === 'configuration' ? {} : []])),
};

/** Passphrase of backups with secrets. */
export const PASSPHRASE = 'correct horse battery';

/** A current backup without secrets. */
export async function backUpOpenly(): Promise<BackupText> {
  const answer = await api.send('GET', '/api/backup');
  expect(answer.status).toBe(200);
  BackupFile.parse(answer.body);
  return answer.body as BackupText;
}

/** A current backup with secrets, still encrypted. */
export async function backUpSealed(): Promise<BackupText> {
  const answer = await api.send('POST', '/api/backup', { json: { passphrase: PASSPHRASE } });
  expect(answer.status).toBe(200);
  return answer.body as BackupText;
}

/** A backup with secrets, decrypted. */
export async function backUp(): Promise<BackupText> {
  return decrypted(await backUpSealed());
}

/**
 * A backup as if it were not encrypted: the decrypted secrets are added to the kinds that contain secrets, all other
 * kinds are unchanged.
 */
export async function decrypted(sealed: BackupText): Promise<BackupText> {
  const { secrets: _secrets, ...file } = sealed;
  const full = await withSecrets(BackupFile.parse(sealed), PASSPHRASE);
  const { list_sources, users, second_factors, certificates, api_tokens, configuration } = full;
  const completed = { list_sources, users, second_factors, certificates, api_tokens, configuration };
  return { ...file, ...(completed as Partial<BackupText>) };
}
/** Uploads a file to restore. */
export const send = (json: unknown, query = ''): Promise<TestAnswer> =>
  api.send('POST', `/api/restore${query}`, { json });
/** Restores a file. */
export async function restore(json: unknown, query = ''): Promise<RestoreAnswer> {
  const answer = await send(json, query);
  if (answer.status !== 200) throw new Error(answer.text);
  return RestoreAnswer.parse(answer.body);
}
/** Content of a backup without its time of creation. */
export const content = ({ created_at: _at, ...file }: BackupText): unknown => file;
/** Entries of the audit log. */
export const auditCount = async (): Promise<number> =>
  (await suite.database.query('SELECT FROM audit_log')).rows.length;
