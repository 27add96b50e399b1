/** Forward zones over HTTP; separate suites test which servers Weir then queries. */
import { describe, expect, test } from '@jest/globals';
import { forwardZoneRoutes } from './forward-zone-routes.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { revisionRoutes } from '../../transfer/revisions/revision-routes.ts';
import { ForwardZone, ForwardZoneList } from '../../../shared/api/policy/forward-zones-api.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = (parts) => [
  ...forwardZoneRoutes(parts),
  ...revisionRoutes({ ...parts, activateRestored: () => Promise.resolve() }),
];

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));

const ZONES = '/api/forward-zones';
const post = (json: unknown): Promise<TestAnswer> => api.send('POST', ZONES, { json });

describe('forward zones over the API', () => {
  test('are created, read, changed and deleted, and each change is active when its response arrives', async () => {
    const before = api.policyChanges;
    const created = await post({
      zone: 'Corp.Example.',
      servers: ['192.0.2.53', 'tcp://[2001:db8::53]:5353'],
    });
    expect(created.status).toBe(201);
    const zone = ForwardZone.parse(created.body);
    expect(zone).toMatchObject({
      zone: 'corp.example',
      servers: ['192.0.2.53', 'tcp://[2001:db8::53]:5353'],
      comment: '',
      enabled: true,
    });
    const path = `${ZONES}/${zone.id}`;
    expect((await api.send('GET', path)).body).toEqual(zone);
    expect(ForwardZoneList.parse((await api.send('GET', ZONES)).body)).toEqual([zone]);
    const changed = await api.send('PUT', path, { json: { comment: 'office', enabled: false } });
    expect(ForwardZone.parse(changed.body)).toMatchObject({
      zone: 'corp.example',
      comment: 'office',
      enabled: false,
    });
    expect((await api.send('DELETE', path)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await api.send(method, path)).status).toBe(404);
    expect((await api.send('PUT', path, { json: { comment: 'x' } })).status).toBe(404);
    expect(api.policyChanges - before).toBe(3);
  });

  test.each([
    ['192.168.7.9/24', '7.168.192.in-addr.arpa'],
    ['2001:db8::/32', '8.b.d.0.1.0.0.2.ip6.arpa'],
    ['172.16.9.9/12', '172.16.0.0/12'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['7.168.192.IN-ADDR.arpa', '7.168.192.in-addr.arpa'],
    ['lan', 'lan'],
  ])('store the zone %j as %j', async (written, kept) => {
    const answer = await post({ zone: written, servers: ['192.0.2.53'] });
    expect([answer.status, ForwardZone.parse(answer.body).zone]).toEqual([201, kept]);
    expect((await post({ zone: kept, servers: ['192.0.2.54'] })).problem.error).toBe('conflict');
  });

  test.each([
    [{ servers: ['192.0.2.53'] }, ['zone']],
    [{ zone: '.', servers: ['192.0.2.53'] }, ['zone']],
    [{ zone: '0.0.0.0/0', servers: ['192.0.2.53'] }, ['zone']],
    [{ zone: 'a..example', servers: ['192.0.2.53'] }, ['zone']],
    [{ zone: 'a.example' }, ['servers']],
    [{ zone: 'a.example', servers: ['192.0.2.53', '192.0.2.53'] }, ['servers']],
    [{ zone: 'a.example', servers: ['192.0.2.53', 'ftp://192.0.2.53', 'a b'] }, ['servers.1', 'servers.2']],
    [{ zone: 'a.example', servers: 7 }, ['servers']],
    [{ zone: 'a.example', servers: Array.from({ length: 9 }, (_, i) => `192.0.2.${i}`) }, ['servers']],
    [{ zone: 'a.example', servers: ['192.0.2.53'], priority: 1 }, ['priority']],
  ])('refuse %j and name every invalid field', async (json, paths) => {
    const answer = await post(json);
    expect([answer.status, answer.problem.errors!.map(({ path }) => path)]).toEqual([400, paths]);
  });

  test('refuse a name that another forward zone has', async () => {
    await post({ zone: 'a.example', servers: ['192.0.2.53'] });
    const other = ForwardZone.parse((await post({ zone: 'b.example', servers: ['192.0.2.53'] })).body);
    const answer = await api.send('PUT', `${ZONES}/${other.id}`, { json: { zone: 'A.Example' } });
    expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
  });

  test('may have no servers, when created or after a change', async () => {
    const created = await post({ zone: 'here.example', servers: [] });
    expect(created.status).toBe(201);
    const { id, servers } = ForwardZone.parse(created.body);
    expect(servers).toEqual([]);
    const put = (json: unknown): Promise<TestAnswer> => api.send('PUT', `${ZONES}/${id}`, { json });
    expect((await put({ servers: ['192.0.2.53'] })).body).toMatchObject({ servers: ['192.0.2.53'] });
    expect((await put({ servers: [] })).body).toMatchObject({ servers: [] });
    const { forwardZones } = await readPolicyRows(suite.database, () => undefined);
    expect(forwardZones).toEqual([{ zone: 'here.example', servers: [] }]);
  });

  test('are part of the policy while they are enabled, and are restored by a rollback', async () => {
    const zone = ForwardZone.parse((await post({ zone: 'a.example', servers: ['192.0.2.53'] })).body);
    await post({ zone: 'off.example', servers: ['192.0.2.53'], enabled: false });
    const rows = async () => (await readPolicyRows(suite.database, () => undefined)).forwardZones;
    expect(await rows()).toEqual([{ zone: 'a.example', servers: ['192.0.2.53'] }]);
    const [revision] = (await api.send('GET', '/api/revisions')).body as Revision[];
    expect(revision!.summary).toBe('forward zone off.example: created');
    await api.send('DELETE', `${ZONES}/${zone.id}`);
    expect(await rows()).toEqual([]);
    expect((await api.send('POST', `/api/revisions/${revision!.id}/rollback`)).status).toBe(200);
    expect(await rows()).toEqual([{ zone: 'a.example', servers: ['192.0.2.53'] }]);
    expect((await api.send('GET', `${ZONES}/${zone.id}`)).body).toEqual(zone);
  });
});
