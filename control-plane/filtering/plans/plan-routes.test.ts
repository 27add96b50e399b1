/** Plans over HTTP: each change is a single revision. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import { clientRoutes } from '../../clients/devices/client-routes.ts';
import { groupRoutes } from '../../clients/groups/group-routes.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { revisionRoutes } from '../../transfer/revisions/revision-routes.ts';
import { scheduleRoutes } from '../schedules/schedule-routes.ts';
import { ServiceCatalog } from '../services/service-catalog.ts';
import { serviceRoutes } from '../services/service-routes.ts';
import { planRoutes } from './plan-routes.ts';
import { GroupPlan } from '../../../shared/api/policy/schedules-api.ts';
import type { ScheduleProfile } from '../../../shared/api/policy/schedules-api.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

const catalog = new ServiceCatalog(tmpdir());

const stats = { addressCounts: () => Promise.resolve([]) };

const suiteRoutes: Rows = (parts) => [
  ...planRoutes({ ...parts, catalog }),
  ...clientRoutes({ ...parts, stats }),
  ...groupRoutes(parts),
  ...revisionRoutes({ ...parts, activateRestored: () => Promise.resolve() }),
  ...scheduleRoutes(parts),
  ...serviceRoutes({ ...parts, catalog }),
];

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));

const send = (method: string, path: string, json?: unknown): Promise<TestAnswer> =>
  api.send(method, `/api${path}`, json === undefined ? {} : { json });
const revisions = async (): Promise<Revision[]> => (await send('GET', '/revisions')).body as Revision[];
const profiles = async (): Promise<ScheduleProfile[]> =>
  (await send('GET', '/schedule-profiles')).body as ScheduleProfile[];
const groupOf = async (clientId: number): Promise<unknown> =>
  ((await send('GET', `/clients/${clientId}`)).body as { group_id: number }).group_id;

const SCHOOL_NIGHTS = { days: 79, start_time: '20:00', end_time: '07:00', skips_days_off: true };
const BEDTIME = { days: 127, start_time: '21:00', end_time: '06:30', skips_days_off: false };
const HOLIDAYS = [{ from: '2026-07-01', to: '2026-08-14' }];

let phone: number;
let tablet: number;

beforeEach(async () => {
  const make = async (address: string): Promise<number> =>
    ((await send('POST', '/clients', { ip_address: address })).body as { id: number }).id;
  phone = await make('192.0.2.7');
  tablet = await make('192.0.2.8');
});

const mia = () => ({
  name: 'Mia',
  timezone: 'Europe/Berlin',
  client_ids: [phone],
  services: [
    { service_id: 'youtube', always: false },
    { service_id: 'tiktok', always: true },
  ],
  service_times: [SCHOOL_NIGHTS],
  offline_times: [BEDTIME],
  days_off: HOLIDAYS,
});
const create = async (plan: object = mia()): Promise<GroupPlan> =>
  GroupPlan.parse((await send('POST', '/group-plans', plan)).body);

describe('POST /group-plans', () => {
  test('creates the group with its devices, services and times in one revision, active immediately', async () => {
    const [before, changes] = [(await revisions()).length, api.policyChanges];
    const answer = await send('POST', '/group-plans', mia());
    const plan = GroupPlan.parse(answer.body);
    expect([answer.status, plan]).toEqual([201, { ...mia(), id: plan.id }]);
    expect((await revisions()).length).toBe(before + 1);
    expect((await revisions())[0]!.summary).toBe('group Mia: created with its plan');
    expect(api.policyChanges).toBe(changes + 1);
    expect((await send('GET', `/group-plans/${plan.id}`)).body).toEqual(plan);
    expect([await groupOf(phone), await groupOf(tablet)]).toEqual([plan.id, 1]);
    const rows = await readPolicyRows(suite.database, (id) => {
      const service = catalog.get(id)!;
      return { serviceName: service.name, domains: service.domains, exact: service.exact_domains };
    });
    const times = { timezone: 'Europe/Berlin', daysOff: HOLIDAYS };
    expect(rows.schedules).toMatchObject([{ ...times, groupId: plan.id, profile: 'Mia: offline' }]);
    expect(rows.blockedServices.map(({ serviceId, times: when }) => [serviceId, when])).toMatchObject([
      ['youtube', { ...times, slots: [{ days: 79, start: 1200, end: 420, skipsDaysOff: true }] }],
      ['tiktok', null],
    ]);
  });

  test('stores nothing if a part of the plan is refused', async () => {
    await create({ name: 'Ben', timezone: 'UTC' });
    const [before, kept] = [(await revisions()).length, await profiles()];
    const refused = async (change: object): Promise<unknown> => {
      const { status, problem } = await send('POST', '/group-plans', { ...mia(), ...change });
      return [status, problem.errors?.map(({ path }) => path)];
    };
    expect(await refused({ client_ids: [phone, 4711] })).toEqual([400, ['client_ids.1']]);
    expect(await refused({ client_ids: [phone, phone] })).toEqual([400, ['client_ids']]);
    expect(await refused({ services: [{ service_id: 'nothing', always: true }] })).toEqual([
      400,
      ['services.0.service_id'],
    ]);
    expect(await refused({ service_times: [{ ...BEDTIME, end_time: '21:00' }] })).toEqual([
      400,
      ['service_times.0.end_time'],
    ]);
    expect(await refused({ timezone: 'Mars/Olympus' })).toEqual([400, ['timezone']]);
    expect(await refused({ name: 'BEN' })).toEqual([409, undefined]);
    expect([(await revisions()).length, await profiles()]).toEqual([before, kept]);
    expect(await groupOf(phone)).toBe(1);
  });
});

describe('PUT /group-plans/{id}', () => {
  test('replaces the whole plan in one revision, and a rollback restores it', async () => {
    const { id } = await create();
    const path = `/group-plans/${id}`;
    const [made] = await revisions();
    const changed = {
      ...mia(),
      ...{ name: 'Mia M.', client_ids: [tablet], services: [{ service_id: 'roblox', always: false }] },
      ...{ service_times: [BEDTIME, SCHOOL_NIGHTS], offline_times: [], days_off: [] },
    };
    expect((await send('PUT', path, changed)).body).toEqual({ ...changed, id });
    expect((await revisions())[1]!.id).toBe(made!.id);
    expect([await groupOf(phone), await groupOf(tablet)]).toEqual([1, id]);
    expect((await profiles()).map(({ name }) => name)).toEqual(['Mia: services']);
    expect((await send('POST', `/revisions/${made!.id}/rollback`)).status).toBe(200);
    expect((await send('GET', path)).body).toEqual({ ...mia(), id });
    expect(await groupOf(phone)).toBe(id);
  });

  test('creates no revision if the plan is unchanged', async () => {
    const { id } = await create();
    const before = (await revisions()).length;
    expect((await send('PUT', `/group-plans/${id}`, mia())).status).toBe(200);
    expect((await revisions()).length).toBe(before);
  });

  test('is refused with 404 for an unknown group, and with 412 if the plan has changed since it was read', async () => {
    expect((await send('PUT', '/group-plans/4711', mia())).status).toBe(404);
    expect((await send('GET', '/group-plans/4711')).status).toBe(404);
    const { id } = await create();
    const path = `/group-plans/${id}`;
    const { etag } = (await send('GET', path)).headers;
    await send('PUT', path, { ...mia(), client_ids: [] });
    const late = await api.send('PUT', `/api${path}`, { json: mia(), headers: { 'if-match': String(etag) } });
    expect(late.status).toBe(412);
  });
});

describe('DELETE /group-plans/{id}', () => {
  test('deletes the group, its rows and its schedules in one revision, and its devices get their default group', async () => {
    const { id } = await create();
    const other = { name: 'Nights', timezone: 'UTC' };
    await send('POST', '/schedule-profiles', other);
    const before = (await revisions()).length;
    expect((await send('DELETE', `/group-plans/${id}`)).status).toBe(204);
    expect((await revisions()).length).toBe(before + 1);
    expect((await profiles()).map(({ name }) => name)).toEqual(['Nights']);
    expect((await send('GET', '/services')).body).toEqual([]);
    expect(await groupOf(phone)).toBe(1);
    expect((await send('GET', '/group-plans')).body).toMatchObject([{ id: 1, client_ids: [], services: [] }]);
    expect((await send('DELETE', `/group-plans/${id}`)).status).toBe(404);
    expect((await send('DELETE', '/group-plans/1')).status).toBe(409);
  });
});
