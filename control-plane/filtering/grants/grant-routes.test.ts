/** Grants over HTTP and in the database. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import { Grant, GrantList } from '../../../shared/api/policy/grants-api.ts';
import {
  type RunningApi,
  type Rows,
  SteeredClock,
  type TestAnswer,
} from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { clientRoutes } from '../../clients/devices/client-routes.ts';
import { deleteUntouched, deleteUnseen } from '../../clients/devices/client-store.ts';
import { groupRoutes } from '../../clients/groups/group-routes.ts';
import { PolicyMemory } from '../../policy/change/policy-memory.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { customServiceRoutes } from '../services/custom-service-routes.ts';
import { ServiceCatalog } from '../services/service-catalog.ts';
import { removeEnded } from './ended-grants.ts';
import { grantRoutes } from './grant-routes.ts';
import { GrantTimes } from './grant-times.ts';

const clock = new SteeredClock();
const times = new GrantTimes(clock);
let known: PolicyRows['grants'] = [];
const catalog = new ServiceCatalog(tmpdir());
const stats = { addressCounts: () => Promise.resolve([]) };
const suiteRoutes: Rows = (parts) => [
  ...grantRoutes({ ...parts, catalog, grants: () => times.active(known) }),
  ...customServiceRoutes(parts),
  ...groupRoutes(parts),
  ...clientRoutes({ ...parts, stats }),
];

let suite: SuiteDatabase;
let api: RunningApi;
let memory: PolicyMemory;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served), { clock });
beforeEach(() => {
  api.policyChanges = 0;
  memory = new PolicyMemory();
});

const post = (json: unknown): Promise<TestAnswer> => api.send('POST', '/api/grants', { json });
const create = async (json: object): Promise<Grant> => {
  const answer = await post(json);
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return Grant.parse(answer.body);
};
/** The grants as policy reads them. */
async function read(): Promise<PolicyRows['grants']> {
  return (known = (await readPolicyRows(suite.database, (id) => catalog.find(id), memory)).grants);
}
async function createClient(json: object): Promise<number> {
  return ((await api.send('POST', '/api/clients', { json })).body as { id: number }).id;
}
const pathsOf = (answer: TestAnswer): string[] => answer.problem.errors!.map(({ path }) => path);

describe('grants', () => {
  test('are created with all fields, active and audited, without a revision', async () => {
    const grant = await create({ domain: 'Games.Example.', group_id: 1, secs: 600 });
    expect(grant).toEqual({
      id: grant.id,
      domain: 'games.example',
      service_id: null,
      service_name: null,
      subdomains: true,
      client_id: null,
      group_id: 1,
      action: 'allow',
      until: new Date(clock.nowMs() + 600_000).toISOString(),
      secs_left: 600,
      created_at: new Date(clock.nowMs()).toISOString(),
    });
    expect(api.policyChanges).toBe(1);
    const { rows } = await suite.database.query<{ action: string; subject: string; after: unknown }>(
      'SELECT action, subject, after FROM audit_log ORDER BY id DESC LIMIT 1',
    );
    expect(rows[0]).toMatchObject({
      action: 'created',
      subject: `grant ${grant.id}: allow games.example for group 1`,
      after: { domain: 'games.example', group_id: 1 },
    });
    expect((await suite.database.query('SELECT FROM revisions')).rows).toEqual([]);
  });

  test('apply to a client by its MAC, or by its address if it has no MAC', async () => {
    const byIp = await createClient({ ip_address: '192.0.2.7' });
    const byMac = await createClient({ ip_address: '192.0.2.8', mac_address: '02:00:00:00:00:01' });
    const until = '2026-01-15T14:30:00+01:00';
    const first = await create({ client_id: byIp, until });
    expect(first).toMatchObject({ until: '2026-01-15T13:30:00.000Z', domain: null, secs_left: 5400 });
    const second = await create({ client_id: byMac, action: 'block', secs: 1, domain: 'bücher.example' });
    const row = { groupId: null, subdomains: true, createdMs: clock.nowMs() };
    expect(await read()).toEqual([
      {
        ...row,
        ...{ id: first.id, domain: null, action: 'allow', clientId: byIp, mac: null, address: '192.0.2.7' },
        untilMs: Date.parse(until),
      },
      {
        ...row,
        ...{ id: second.id, domain: 'xn--bcher-kva.example', action: 'block', clientId: byMac },
        ...{ mac: '02:00:00:00:00:01', address: null, untilMs: clock.nowMs() + 1000 },
      },
    ]);
    await api.send('PATCH', `/api/clients/${byIp}`, { json: { mac_address: '02:00:00:00:00:02' } });
    expect((await read())[0]).toMatchObject({ mac: '02:00:00:00:00:02', address: null });
  });

  test('apply to all clients and do not expire by default', async () => {
    const grant = await create({ domain: 'games.example', subdomains: false, action: 'block' });
    expect(grant).toMatchObject({
      ...{ client_id: null, group_id: null, subdomains: false, until: null, secs_left: null },
    });
    const { rows } = await suite.database.query<{ subject: string; after: unknown }>(
      'SELECT subject, after FROM audit_log ORDER BY id DESC LIMIT 1',
    );
    expect(rows[0]).toMatchObject({
      subject: `grant ${grant.id}: block games.example for everyone`,
      after: { subdomains: false, until: null },
    });
    await create({ group_id: 1, secs: 10 });
    expect((await read())[0]).toMatchObject({
      ...{ groupId: null, clientId: null, untilMs: null, subdomains: false },
    });
    clock.advanceSecs(10);
    const listed = GrantList.parse((await api.send('GET', '/api/grants')).body);
    expect(listed.map(({ id }) => id)).toEqual([grant.id]);
  });

  test('for a catalog or custom service apply to its names, and are deleted with a custom service', async () => {
    const custom = { name: 'My Games', category: 'social_media', domains: ['one.example'] };
    await api.send('POST', '/api/custom-services', { json: custom });
    const own = await create({ service_id: 'custom-my-games', group_id: 1, secs: 600 });
    expect(own).toMatchObject({ service_name: 'My Games', domain: null, subdomains: true });
    const built = await create({ service_id: 'youtube', secs: 600, subdomains: false });
    expect(await api.send('GET', `/api/grants/${built.id}`)).toMatchObject({ status: 404 });
    const [first, second] = await read();
    expect(first).toMatchObject({ domain: null, service: { domains: ['one.example'], exact: [] } });
    expect(second).toMatchObject({ serviceId: 'youtube', service: { serviceName: 'YouTube' } });
    expect(second!.service!.domains).toContain('youtube.com');
    expect((await api.send('GET', `/api/grants/${built.id}`)).body).toEqual(built);
    const { rows } = await suite.database.query(
      `SELECT subject FROM audit_log WHERE subject LIKE 'grant%' ORDER BY id DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ subject: `grant ${built.id}: allow service youtube for everyone` }]);
    const json = { domains: ['two.example'] };
    await api.send('PATCH', '/api/custom-services/custom-my-games', { json });
    expect((await read())[0]).toMatchObject({ service: { domains: ['two.example'] } });
    await api.send('DELETE', '/api/custom-services/custom-my-games');
    expect((await read()).map(({ id }) => id)).toEqual([built.id]);
  });

  test('are listed while they are active, in the order in which they expire', async () => {
    const long = await create({ group_id: 1, secs: 86_400 });
    const short = await create({ group_id: 1, secs: 10 });
    await read();
    const list = async (): Promise<number[]> =>
      GrantList.parse((await api.send('GET', '/api/grants')).body).map(({ id }) => id);
    expect(await list()).toEqual([short.id, long.id]);
    clock.advanceSecs(10);
    expect(await list()).toEqual([long.id]);
  });

  test('can be deleted by DELETE before they expire, and the deletion is audited once', async () => {
    const { id } = await create({ group_id: 1, secs: 10 });
    const answer = await api.send('DELETE', `/api/grants/${id}`);
    expect([answer.status, answer.text, api.policyChanges]).toEqual([204, '', 2]);
    expect(await read()).toEqual([]);
    expect((await api.send('DELETE', `/api/grants/${id}`)).status).toBe(404);
    expect(api.policyChanges).toBe(2);
    const { rows } = await suite.database.query('SELECT action FROM audit_log ORDER BY id');
    expect(rows).toEqual([{ action: 'created' }, { action: 'deleted' }]);
  });

  test('are deleted with their client and their group', async () => {
    const client = await createClient({ ip_address: '192.0.2.7' });
    const group = ((await api.send('POST', '/api/groups', { json: { name: 'Kids' } })).body as Grant).id;
    await create({ client_id: client, secs: 10 });
    await create({ group_id: group, secs: 10 });
    expect(await read()).toHaveLength(2);
    await api.send('DELETE', `/api/groups/${group}`);
    expect((await read()).map(({ clientId }) => clientId)).toEqual([client]);
    await api.send('DELETE', `/api/clients/${client}`);
    expect(await read()).toEqual([]);
  });

  test('prevent the eviction of a client that was only observed', async () => {
    const { rows } = await suite.database.query<{ id: number }>(
      `INSERT INTO clients (ip_address, last_seen) VALUES ('192.0.2.7', '2020-01-01'), ('192.0.2.8', '2020-01-01')
       RETURNING id`,
    );
    const [kept, gone] = rows.map(({ id }) => id) as [number, number];
    await create({ client_id: kept, secs: 10 });
    await deleteUntouched(suite.database, [kept]);
    expect(await deleteUnseen(suite.database, clock.nowMs())).toEqual([gone]);
    expect(await read()).toHaveLength(1);
  });

  test('that have expired are deleted from the database', async () => {
    const { id } = await create({ group_id: 1, secs: 10 });
    await suite.database.query(
      `INSERT INTO grants (group_id, action, until, created_at) VALUES (1, 'allow', '2026-01-13', now())`,
    );
    await create({ group_id: 1, secs: 20 });
    expect(await read()).toHaveLength(2);
    await removeEnded(suite.database, new MemoryLogger(), new Set([id]));
    expect(await read()).toHaveLength(1);
  });

  test('are limited to 10,000, even if two are created at the same time', async () => {
    await suite.database.query(
      `INSERT INTO grants (group_id, action, until, created_at)
         SELECT 1, 'allow', now() + interval '1 day', now() FROM generate_series(1, 9999)`,
    );
    const answers = await Promise.all([post({ group_id: 1, secs: 5 }), post({ group_id: 1, secs: 5 })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test('for services have a lower limit, because services have many names', async () => {
    await suite.database.query(
      `INSERT INTO grants (group_id, action, until, created_at, domain, subdomains, service_id)
         SELECT 1, 'allow', now() + interval '1 day', now(), 'service.invalid', false, 'youtube'
         FROM generate_series(1, 199)`,
    );
    const service = { service_id: 'youtube', secs: 5 };
    const statuses = [];
    for (const json of [service, service, { domain: 'a.example', secs: 5 }])
      statuses.push((await post(json)).status);
    expect(statuses).toEqual([201, 409, 201]);
  });

  test.each<[unknown, string[]]>([
    [{ group_id: 1, secs: 5, subdomains: 'yes' }, ['subdomains']],
    [{ group_id: 1, client_id: 1, secs: 5, until: '2026-01-15T14:00:00Z' }, ['client_id', 'secs']],
    [{ group_id: 1, client_id: 1, secs: 5 }, ['client_id']],
    [{ group_id: 1, secs: 5, until: '2026-01-15T14:00:00Z' }, ['secs']],
    [{ group_id: 1, secs: 0 }, ['secs']],
    [{ group_id: 1, secs: 86_401 }, ['secs']],
    [{ group_id: 1, secs: 1.5 }, ['secs']],
    [{ group_id: 1, secs: '5' }, ['secs']],
    [{ group_id: 1, until: '2026-01-15' }, ['until']],
    [{ group_id: 1, until: '2020-01-15T14:00:00Z' }, ['until']],
    [{ group_id: 1, until: '9999-01-15T14:00:00Z' }, ['until']],
    [{ group_id: 1, until: '2026-02-30T14:00:00Z' }, ['until']],
    [{ group_id: 4711, secs: 5 }, ['group_id']],
    [{ client_id: 4711, secs: 5 }, ['client_id']],
    [{ service_id: 'no-such-service', secs: 5 }, ['service_id']],
    [{ service_id: '../x', secs: 5 }, ['service_id']],
    [{ service_id: 'youtube', domain: 'a.example', secs: 5 }, ['domain']],
    [{ client_id: 2 ** 31, secs: 5 }, ['client_id']],
    [{ group_id: 1, secs: 5, action: 'deny' }, ['action']],
    [{ group_id: 1, secs: 5, domain: '*.example.org' }, ['domain']],
    [{ group_id: 1, secs: 5, domain: '' }, ['domain']],
    [{ group_id: 1, secs: 5, domain: '192.0.2.1' }, ['domain']],
    [{ group_id: 1, secs: 5, domain: `${'a'.repeat(64)}.example` }, ['domain']],
    [{ group_id: 1, secs: 5, name: 'x' }, ['name']],
  ])('refuse %j and name every invalid field', async (json, paths) => {
    const answer = await post(json);
    expect([answer.status, answer.problem.error, pathsOf(answer)]).toEqual([400, 'invalid', paths]);
    expect(api.policyChanges).toBe(0);
  });
});
