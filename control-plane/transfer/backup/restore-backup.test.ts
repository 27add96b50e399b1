import { beforeEach, describe, expect, test } from '@jest/globals';
import type { BackupText, RestoreAnswer } from '../../../shared/api/policy/backup-api.ts';
import {
  api,
  auditCount,
  backUp,
  backUpOpenly,
  content,
  EMPTY,
  fill,
  make,
  restore,
  send,
  serveBackups,
  suite,
} from '../../../test/support/parts/backup-suite.ts';
import { packText, storeText } from '../../storage/cluster/blob-store.ts';
import { isChecked } from '../../lists/sources/list-guard.ts';
import { listSources } from '../../lists/sources/source-store.ts';
import { KINDS } from './backup-kinds.ts';

serveBackups();

describe('the restore of a backup', () => {
  beforeEach(() => fill());

  test('changes nothing, creates no revision and no audit entry, if nothing has changed since the backup', async () => {
    const before = await auditCount();
    for (const query of ['', '?dry_run=true']) {
      expect(await restore(await backUp(), query)).toEqual({
        dry_run: query !== '',
        revision: null,
        changes: [],
        left_out: [],
      });
      expect(await restore(await backUpOpenly(), query)).toMatchObject({ changes: [], left_out: [] });
    }
    // The entries of the two backups with secrets.
    expect(await auditCount()).toBe(before + 2);
  });

  test('restores merged clients, and splits clients that are separate in the file', async () => {
    const apart = await backUp();
    const text = 'UPDATE clients SET name = NULL, group_id = NULL, device_id = $1 WHERE id = $2';
    const { rows } = await suite.database.query<{ id: number }>('SELECT id FROM clients ORDER BY id');
    const [tablet, , , byAddress] = rows.map(({ id }) => id);
    await suite.database.query('UPDATE clients SET device_id = id WHERE id = $1', [tablet]);
    await suite.database.query(text, [tablet, byAddress]);
    const merged = await backUp();
    expect(merged.clients).toContainEqual(
      expect.objectContaining({ ip_address: '2001:db8::7', device: '02:00:5e:10:00:01', group: null }),
    );
    for (const file of [apart, merged, EMPTY, merged, apart]) {
      await restore(file);
      expect((await backUp()).clients).toEqual(file.clients);
    }
    const unknown = merged.clients!.map((item) => ({ ...item, device: item['device'] && '192.0.2.99' }));
    expect((await send({ ...merged, clients: unknown })).status).toBe(200);
    const named = merged.clients!.map((item) => ({ ...item, device: '192.0.2.8', name: 'both' }));
    expect((await send({ ...merged, clients: named })).status).toBe(400);
  });

  test('restores the text of custom rules', async () => {
    const before = await backUp();
    const customOf = ({ list_sources: all = [] }: BackupText) =>
      all.filter(({ text }) => typeof text === 'string');
    const { database } = suite;
    const packed = await packText('||own.example^\n');
    await database.transaction((tx) => storeText(tx, packed));
    await database.query(
      `INSERT INTO list_sources (kind, name, url, content_key, status) VALUES ('block', 'own', 'text:own', $1, 'ok')`,
      [packed.key],
    );
    const file = await backUp();
    expect(customOf(file)).toMatchObject([{ url: 'text:own', text: '||own.example^\n' }]);
    await restore(before);
    await database.query('DELETE FROM blobs');
    expect(await restore(file)).toMatchObject({ changes: [{ kind: 'list_sources', created: { count: 1 } }] });
    expect(content(await backUp())).toEqual(content(file));
    const [source] = (await listSources(database)).filter(({ has_text: isCustom }) => isCustom);
    expect(source).toMatchObject({ isKept: true, status: 'ok' });
    expect(isChecked(source!.judged, source!.contentKey!)).toBe(true);
    // The held update has the text of custom rules, as after an upgrade.
    await suite.database.query(
      `UPDATE list_sources SET held_key = content_key, content_key = NULL, status = 'held' WHERE id = $1`,
      [source!.id],
    );
    expect(customOf(await backUp())).toMatchObject([{ text: '||own.example^\n' }]);
    const changed = file.list_sources!.map((one) =>
      typeof one.text !== 'string' ? one : { ...one, text: 'b.example' },
    );
    await restore({ ...file, list_sources: changed });
    expect(customOf(await backUp())).toMatchObject([{ text: 'b.example' }]);
    expect((await listSources(database)).find(({ id }) => id === source!.id)).toMatchObject({
      ...{ status: 'ok', heldKey: null },
    });
    const loose = file.list_sources!.find(({ url }) => url.startsWith('https:'));
    const answer = await send({ ...file, list_sources: [{ ...loose!, text: 'a.example' }] });
    expect([answer.status, answer.problem.errors?.[0]?.path]).toEqual([400, 'list_sources.0.text']);
  });

  test('restores everything on an empty node, and on a node with other objects', async () => {
    const file = await backUp();
    await restore(EMPTY);
    expect(content(await backUp())).toMatchObject({
      groups: [{ name: 'Default', is_default: true }],
      ...Object.fromEntries(KINDS.slice(1).map(({ name }) => [name, name === 'configuration' ? {} : []])),
    });
    const { changes } = await restore(file);
    // The certificate of a test stands for one that each node creates itself.
    const kinds = KINDS.map(({ name }) => name).filter((name) => name !== 'certificates');
    expect(changes.map(({ kind }) => kind)).toEqual(kinds);
    expect(content(await backUp())).toEqual(content(file));

    await make('PUT', '/groups/1', { name: 'Others' });
    const kids = file.groups!.find(({ name }) => name === 'Kids')!;
    await suite.database.query(`UPDATE groups SET name = 'KIDS', comment = 'x' WHERE name = 'Kids'`);
    // The new group has the future name of Default.
    const other = (await make('POST', '/groups', { name: kids.name.replace('Kids', 'Everybody') }))['id'];
    await make('POST', '/clients', { ip_address: '192.0.2.200', group_id: other });
    await make('POST', '/managed-domains', { domain: 'other.example', group_id: other });
    await suite.database.query(`UPDATE schedule_slots SET end_minute = 1`);
    await suite.database.query(
      `UPDATE config_values SET value = '"other.test"' WHERE key = 'dns.local_domain'`,
    );
    await suite.database.query(`UPDATE list_sources SET comment = 'other', enabled = false`);
    await restore(file);
    expect(content(await backUp())).toEqual(content(file));
  });

  test('creates one revision and one audit entry, and a rollback to the previous revision undoes it completely', async () => {
    const file = await backUp();
    const [newest] = (await api.send('GET', '/api/revisions')).body as { id: number }[];
    const before = await auditCount();
    const answer = await send(EMPTY);
    expect(answer.headers['weir-revision']).toBe(String((answer.body as RestoreAnswer).revision));
    expect(await auditCount()).toBe(before + 1);
    await make('POST', `/revisions/${newest!.id}/rollback`, {});
    // Revisions do not contain access rights.
    const outside = { users: [], user_clients: [], second_factors: [], api_tokens: [], grants: [] };
    const after = { ...(await backUp()), ...outside };
    expect(content(after)).toEqual(content({ ...file, ...outside }));
  });

  test('names changed access rights in the audit log even if it changes a thousand clients', async () => {
    const file = await backUp();
    const clients = Array.from({ length: 1001 }, (_, n) => ({
      ip_address: `198.18.${n >> 8}.${n & 255}`,
      mac_address: null,
      client_key: null,
      name: `c${n}`,
      group: null,
    }));
    const users = file.users!.map((user) => ({ ...user, role: 'admin' }));
    await restore({ ...file, clients: [...file.clients!, ...clients], users, user_clients: [] });
    const { rows } = await suite.database.query<{ after: object }>(
      'SELECT after FROM audit_log ORDER BY id DESC LIMIT 1',
    );
    expect(Object.keys(rows[0]!.after)).toEqual(
      expect.arrayContaining(file.users!.map(({ username }) => `users ${username}`)),
    );
    // Clients are also in memory, which other tests share.
    await restore(file);
  });

  test('with dry_run reports the changes by name, and changes nothing', async () => {
    const file = await backUp();
    const plan = await restore(
      { ...file, groups: [...file.groups!, { name: 'New' }], local_records: [] },
      '?dry_run=true',
    );
    expect(plan).toMatchObject({
      ...{ dry_run: true, revision: null },
      changes: [
        { kind: 'groups', created: { count: 1, names: ['New'] }, removed: { count: 0 } },
        { kind: 'local_records', removed: { count: 4 } },
      ],
    });
    expect(content(await backUp())).toEqual(content(file));
  });

  test('moves client keys between clients, and keeps the grants of clients whose other identifiers are unchanged', async () => {
    const [tv] = (await make('GET', '/clients?search=192.0.2.8', undefined))['data'] as { id: number }[];
    await make('POST', '/grants', { domain: 'a.example', client_id: tv!.id, secs: 600 });
    const file = await backUp();
    const others = file.clients!.filter((client) => client['ip_address'] !== '192.0.2.8');
    const moved = [
      ...others.filter(({ client_key: key }) => key !== 'phone'),
      { ip_address: '192.0.2.8', mac_address: null, client_key: 'phone', name: null, group: null },
      { ip_address: null, mac_address: null, client_key: 'tv', name: null, group: null },
    ];
    const { changes } = await restore({ ...file, clients: moved });
    expect(changes.find(({ kind }) => kind === 'clients')).toMatchObject({
      ...{
        created: { names: ['tv'] },
        changed: { names: ['192.0.2.8 phone'] },
        removed: { names: ['phone'] },
      },
    });
    const { grants, clients } = await backUp();
    expect(grants).toContainEqual(expect.objectContaining({ client: '192.0.2.8', domain: 'a.example' }));
    const included = { exclude_from_log: false, exclude_from_stats: false, device: null };
    expect(clients).toEqual(expect.arrayContaining(moved.map((client) => ({ ...included, ...client }))));
    await restore(file);
    expect(content(await backUp())).toEqual(content(file));
  });

  test('keeps kinds of objects that the file does not contain, and updates clients in memory', async () => {
    const file = await backUp();
    const { groups: _groups, clients: _clients, ...others } = EMPTY;
    await restore(others);
    expect(content(await backUp())).toMatchObject({
      groups: file.groups,
      clients: file.clients,
      managed_domains: [],
    });
    await restore({ ...file, clients: [{ ip_address: '2001:db8::7', name: 'phone', group: 'Guests' }] });
    const { body } = await api.send('GET', '/api/clients');
    expect((body as { data: unknown[] }).data).toMatchObject([{ ip_address: '2001:db8::7', name: 'phone' }]);
    // The restore is refused as a whole, because omitted objects still use a group.
    const refused = await send({ ...EMPTY, client_subnets: undefined });
    expect([refused.status, refused.problem.error]).toEqual([409, 'conflict']);
  });
});
