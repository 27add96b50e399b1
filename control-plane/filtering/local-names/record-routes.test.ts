/** Local records over HTTP; separate suites test their effect on answers. */
import { describe, expect, test } from '@jest/globals';
import { recordRoutes, type LocalNames } from './record-routes.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { revisionRoutes } from '../../transfer/revisions/revision-routes.ts';
import { LocalRecord, LocalRecordList } from '../../../shared/api/policy/local-records-api.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

const PATH = '/api/local-records';
const CONFIG = `auth.enabled = false
[dns]
local_domain = "home.example"
local_records = ["fixed.example.org CNAME host.example.org", "192.0.2.77 PTR seven.example.org"]`;

const localNames: LocalNames = {
  localDomain: () => 'home.example',
  live: () => ({
    configRecords: [
      { fqdn: 'fixed.example.org', type: 'CNAME', value: 'host.example.org', ttlSecs: 300 },
      { fqdn: '77.2.0.192.in-addr.arpa', type: 'PTR', value: 'seven.example.org', ttlSecs: 60 },
    ],
    leases: [{ fqdn: 'phone.home.example', address: '192.0.2.50' }],
  }),
};

/** Routes under test. */
const suiteRoutes: Rows = (parts) => [
  ...recordRoutes({ ...parts, localNames }),
  ...revisionRoutes({ ...parts, activateRestored: () => Promise.resolve() }),
];

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served), { toml: CONFIG });

const post = (json: unknown): Promise<TestAnswer> => api.send('POST', PATH, { json });

async function create(json: unknown): Promise<LocalRecord> {
  const answer = await post(json);
  if (answer.status !== 201) throw new Error(`create record: ${answer.text}`);
  return LocalRecord.parse(answer.body);
}

describe('local records over the API', () => {
  test('are created, changed and deleted, and each change is active and creates a revision', async () => {
    const before = api.policyChanges;
    const record = await create({
      hostname: 'NAS',
      domain: 'Example.org.',
      record_type: 'A',
      ip: '192.0.2.5',
    });
    expect(record).toMatchObject({
      hostname: 'nas',
      domain: 'example.org',
      fqdn: 'nas.example.org',
      record_type: 'A',
      value: '192.0.2.5',
      ip: '192.0.2.5',
      ttl: 300,
      source: 'api',
    });
    const path = `${PATH}/${String(record.id)}`;
    const changed = await api.send('PUT', path, { json: { ip: '2001:DB8::5', ttl: 60 } });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      fqdn: 'nas.example.org',
      record_type: 'AAAA',
      value: '2001:db8::5',
      ttl: 60,
    });
    const moved = await api.send('PUT', path, { json: { hostname: 'files' } });
    expect(moved.body).toMatchObject({ fqdn: 'files.example.org', value: '2001:db8::5', ttl: 60 });
    const { localRecords } = await readPolicyRows(suite.database, () => undefined);
    expect(localRecords).toEqual([
      {
        id: record.id,
        fqdn: 'files.example.org',
        domain: 'example.org',
        type: 'AAAA',
        value: '2001:db8::5',
        ttlSecs: 60,
      },
    ]);
    expect((await api.send('DELETE', path)).status).toBe(204);
    expect((await api.send('DELETE', path)).status).toBe(404);
    expect((await api.send('PUT', path, { json: { ttl: 1 } })).status).toBe(404);
    expect(api.policyChanges - before).toBe(4);
    const revisions = (await api.send('GET', '/api/revisions')).body as { summary: string }[];
    expect(revisions.map(({ summary }) => summary)).toEqual([
      'local record files.example.org AAAA 2001:db8::5: deleted',
      'local record files.example.org AAAA 2001:db8::5: changed',
      'local record nas.example.org AAAA 2001:db8::5: changed',
      'local record nas.example.org A 192.0.2.5: created',
    ]);
  });

  test('are restored by a rollback', async () => {
    await create({ fqdn: 'a.example.org', value: '192.0.2.1' });
    const [revision] = (await api.send('GET', '/api/revisions')).body as { id: number }[];
    const record = await create({ fqdn: 'b.example.org', value: '192.0.2.2' });
    await api.send('PUT', `${PATH}/${String(record.id)}`, { json: { value: '192.0.2.3' } });
    const back = await api.send('POST', `/api/revisions/${String(revision!.id)}/rollback`);
    expect(back.status).toBe(200);
    const list = LocalRecordList.parse((await api.send('GET', PATH)).body);
    expect(list.filter(({ source }) => source === 'api').map(({ fqdn }) => fqdn)).toEqual(['a.example.org']);
  });

  test('are listed together with the local records of the configuration file and other sources', async () => {
    await create({ fqdn: 'a.example.org', value: '192.0.2.1' });
    const list = LocalRecordList.parse((await api.send('GET', PATH)).body);
    expect(list.map(({ source, fqdn, record_type, value }) => [source, fqdn, record_type, value])).toEqual([
      ['config', 'fixed.example.org', 'CNAME', 'host.example.org'],
      ['config', '77.2.0.192.in-addr.arpa', 'PTR', 'seven.example.org'],
      ['api', 'a.example.org', 'A', '192.0.2.1'],
      ['dhcp', 'phone.home.example', 'A', '192.0.2.50'],
    ]);
    expect(list.map(({ id }) => id === null)).toEqual([true, true, false, true]);
  });

  test.each([
    [{ hostname: 'nas', ip: '192.0.2.5' }, 'nas.home.example', 'A', '192.0.2.5'],
    [
      { fqdn: 'w.example', record_type: 'cname', value: 'Host.Example.' },
      'w.example',
      'CNAME',
      'host.example',
    ],
    [{ fqdn: 't.example', record_type: 'TXT', value: 'v=spf1 -all' }, 't.example', 'TXT', 'v=spf1 -all'],
  ])('are stored in canonical form: %j', async (written, fqdn, type, value) => {
    expect(await create(written)).toMatchObject({ fqdn, record_type: type, value });
  });

  test.each([
    [{ ip: '192.0.2.5' }, 'hostname'],
    [{ fqdn: 'a.example', record_type: 'TXT', value: '' }, 'value'],
    [{ fqdn: 'a.example', record_type: 'NS', value: 'ns.example' }, 'record_type'],
    [{ fqdn: 'a.example', ip: '192.0.2.5', ttl: -1 }, 'ttl'],
    [{ fqdn: 'a.example', ip: '192.0.2.5', ttl: 604_801 }, 'ttl'],
  ])('are refused with the name of the invalid field: %j', async (written, field) => {
    const answer = await post(written);
    expect(answer.status).toBe(400);
    expect(answer.problem.errors?.map(({ path }) => path)).toContain(field);
  });

  test('with the same name and type can coexist unless their values are equal', async () => {
    await create({ fqdn: 'www.example.org', ip: '192.0.2.1' });
    await create({ fqdn: 'www.example.org', ip: '192.0.2.2' });
    expect((await post({ fqdn: 'WWW.example.org', value: '192.0.2.1' })).status).toBe(409);
    expect((await api.send('GET', PATH)).body).toHaveLength(5);
  });

  test('cannot coexist with a CNAME of the same name, whether records come from the API or the configuration', async () => {
    const alias = { record_type: 'CNAME', value: 'other.example.org' };
    await create({ fqdn: 'www.example.org', ip: '192.0.2.1' });
    expect((await post({ fqdn: 'www.example.org', ...alias })).status).toBe(409);
    await create({ fqdn: 'alias.example.org', ...alias });
    expect((await post({ fqdn: 'alias.example.org', ip: '192.0.2.1' })).status).toBe(409);
    expect((await post({ fqdn: 'alias.example.org', ...alias, value: 'third.example.org' })).status).toBe(
      409,
    );
    const ofConfig = await post({ fqdn: 'fixed.example.org', ip: '192.0.2.1' });
    expect(ofConfig.status).toBe(409);
    expect(ofConfig.problem.detail).toContain('fixed.example.org already has a record of type CNAME');
  });

  test('cannot form CNAME loops with other records, wildcards or records of the configuration', async () => {
    const alias = (fqdn: string, value: string) => ({ fqdn, record_type: 'CNAME', value });
    await create(alias('a.example.org', 'b.example.org'));
    const second = await create(alias('b.example.org', 'c.example.org'));
    expect((await post(alias('c.example.org', 'a.example.org'))).status).toBe(409);
    expect((await post(alias('host.example.org', 'fixed.example.org'))).status).toBe(409);
    expect((await post(alias('*.wild.example.org', 'x.wild.example.org'))).status).toBe(409);
    const turned = await api.send('PUT', `${PATH}/${String(second.id)}`, {
      json: { value: 'a.example.org' },
    });
    expect(turned.status).toBe(409);
    const left = LocalRecordList.parse((await api.send('GET', PATH)).body);
    expect(left.filter(({ source }) => source === 'api').map(({ value }) => value)).toEqual([
      'b.example.org',
      'c.example.org',
    ]);
  });
});
