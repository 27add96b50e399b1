/**
 * Conventions of all entities of the API, checked by the OpenAPI document of a running server: the response to a
 * creation has a location, a body that was read can be sent back, and a change based on an outdated state is refused.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_ID } from '../../../shared/api/fields.ts';
import { QueryLogPage } from '../../../shared/api/query-log-api.ts';
import type { OpenApiDocument } from '../../../control-plane/web/reference/openapi-document.ts';
import { everyOperation, everyRoute } from '../../support/parts/every-route.ts';
import { logRow } from '../../support/parts/log-row.ts';
import { storeRows } from '../../support/parts/stored-log.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { AnswerChecker } from '../../support/reference/answer-checker.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';

type Fields = Record<string, unknown>;

let suite: SuiteDatabase;
let api: RunningApi;
let checker: AnswerChecker;
let session: string;
/** Services of the catalogue. */
let services: string[];
/** Group, profile and client that examples may refer to. */
let own: { group: number; profile: number; client: number };

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
  await api.setUp();
  session = await api.logIn();
  const document = (await ask('GET', '/api/openapi.json')).body as OpenApiDocument;
  checker = new AnswerChecker(document);
  services = ((await ask('GET', '/api/services/catalog')).body as { id: string }[]).map(({ id }) => id);
  const make = async (path: string, json: Fields): Promise<number> =>
    Number(((await ask('POST', path, { json })).body as Fields)['id']);
  own = {
    group: await make('/api/groups', { name: 'Kids' }),
    profile: await make('/api/schedule-profiles', { name: 'Nights', timezone: 'Europe/Berlin' }),
    client: await make('/api/clients', { ip_address: '192.0.2.200', name: 'tablet' }),
  };
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

function ask(method: string, path: string, request: { json?: unknown; ifMatch?: string } = {}) {
  const { json, ifMatch } = request;
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch };
  return api.send(method, path, { session, headers, ...(json !== undefined && { json }) });
}

/** All operations that create an entity which users can read, change or delete. */
const creating = everyOperation
  .filter(({ status, path }) => status === 201 && path !== '/auth/second-factor')
  .map((route) => ({ ...route, name: `POST ${route.path}` }));
const deletable = creating.filter(({ path }) => path !== '/probes');
const editable = creating.filter(({ entity }) =>
  everyOperation.some(({ method, path }) => /PUT|PATCH/.test(method) && path === entity?.path),
);

/** The operation that changes entities of a collection. */
function changeOf({ entity }: (typeof editable)[number]): { method: string; name: string } {
  const { method, path } = everyOperation.find(
    (row) => /PUT|PATCH/.test(row.method) && row.path === entity?.path,
  )!;
  return { method, name: `${method} ${path}` };
}

let serial = 0;

/** A body for a new entity: the example of the document with unique names. */
function bodyOf(name: string): Fields {
  serial += 1;
  const { requestBody } = checker.operations.get(name)!;
  const example = (requestBody?.content['application/json']?.example ?? {}) as Fields;
  const unique: Fields = {
    name: `thing ${serial}`,
    username: `user${serial}`,
    domain: `d${serial}.example.org`,
    pattern: `^p${serial}\\.`,
    zone: `z${serial}.example.org`,
    hostname: `h${serial}`,
    url: `https://lists.example.org/${serial}${name}.txt`.replaceAll(' ', ''),
    subnet_cidr: `198.51.${serial}.0/24`,
    ip_address: `203.0.113.${serial}`,
    mac_address: `02:00:5e:20:00:${(serial + 16).toString(16)}`,
    client_key: `key${serial}`,
    service_id: services[serial],
    group_id: own.group,
    client_id: null,
    profile_id: null,
  };
  // A grant is for a domain or a service, not for both.
  if (example['service_id'] === null) unique['service_id'] = null;
  const fields = Object.entries(example).map(([field, value]) => [
    field,
    field in unique ? unique[field] : field === 'group_ids' ? [own.group] : value,
  ]);
  return Object.fromEntries(fields) as Fields;
}

/** Creates an entity; the response must be documented. */
async function created(name: string): Promise<{ answer: TestAnswer; location: string; etag: string }> {
  const path = name.replace('POST ', '/api').replace('{id}', String(own.profile));
  const answer = await ask('POST', path, { json: bodyOf(name) });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  expect(checker.faultsOf(name, answer)).toEqual([]);
  const { location, etag } = answer.headers as { location: string; etag: string };
  return { answer, location, etag };
}

/** The body without fields that change over time or are shown only once. */
function settled(body: unknown): Fields {
  const { secs_left: _left, key: _key, slots: _slots, ...fields } = body as Fields;
  return fields;
}

/** A different value of the same kind. */
const OTHER: Fields = { comment: 'other', name: 'other thing', display_name: 'Other', profile_id: null };

function edited(current: Fields): Fields {
  const field = Object.keys(OTHER).find((one) => one in current)!;
  const value = field === 'profile_id' ? own.profile : `${String(OTHER[field])} ${(serial += 1)}`;
  return { ...current, [field]: value };
}

describe('a response that creates an entity', () => {
  test.each(creating)(
    '$name has the Location at which the entity is returned with its ETag',
    async ({ name }) => {
      const { answer, location, etag } = await created(name);
      const read = await ask('GET', location);
      expect(read.status).toBe(200);
      expect(settled(read.body)).toEqual(settled(answer.body));
      expect(read.headers['etag']).toBe(etag);
      expect(etag).toMatch(/^"[\w-]{22}"$/);
    },
  );
});

describe('an entity that was read', () => {
  test.each(editable)('$name: is unchanged if it is sent back without an edit', async (row) => {
    const change = changeOf(row);
    const { location } = await created(row.name);
    const { body, headers } = await ask('GET', location);
    const before = await counted();
    const ifMatch = headers['etag'] as string;
    const answer = await ask(change.method, location, { json: body, ifMatch });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    expect(answer.headers['weir-revision']).toBeUndefined();
    expect(answer.headers['etag']).toBe(ifMatch);
    expect((await ask('GET', location)).body).toEqual(body);
    expect(await counted()).toEqual(before);
  });

  test.each(editable)('$name: has a new ETag if it is edited and sent back', async (row) => {
    const change = changeOf(row);
    const { location, etag } = await created(row.name);
    const json = edited((await ask('GET', location)).body as Fields);
    const answer = await ask(change.method, location, { json, ifMatch: etag });
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    expect(checker.faultsOf(change.name, answer)).toEqual([]);
    expect(answer.headers['etag']).not.toBe(etag);
    const read = await ask('GET', location);
    expect(read.headers['etag']).toBe(answer.headers['etag']);
    const stale = await ask(change.method, location, { json, ifMatch: etag });
    expect([stale.status, stale.problem.error]).toEqual([412, 'precondition_failed']);
    expect((await ask('GET', location)).body).toEqual(read.body);
  });

  test.each(editable)('$name: exactly one of two edits with the same ETag succeeds', async (row) => {
    const change = changeOf(row);
    const { location, etag } = await created(row.name);
    const before = (await ask('GET', location)).body as Fields;
    const edits = [edited(before), edited(before)];
    const answers = await Promise.all(
      edits.map((json) => ask(change.method, location, { json, ifMatch: etag })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test.each(deletable)('$name: is deleted only with its current ETag', async ({ name }) => {
    const { location, etag } = await created(name);
    const stale = await ask('DELETE', location, { ifMatch: '"stale"' });
    expect([stale.status, stale.problem.error]).toEqual([412, 'precondition_failed']);
    expect((await ask('GET', location)).status).toBe(200);
    const deleted = await ask('DELETE', location, { ifMatch: `"stale", W/${etag}` });
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await ask('GET', location)).status).toBe(404);
  });
});

async function counted(): Promise<{ audited: number; revised: number }> {
  const { rows } = await suite.database.query<{ audited: number; revised: number }>(
    'SELECT (SELECT count(*)::integer FROM audit_log) AS audited, (SELECT count(*)::integer FROM revisions) AS revised',
  );
  return rows[0]!;
}

describe('every collection', () => {
  test('with IDs has a GET route for one entity', () => {
    const paths = new Set(everyOperation.filter(({ method }) => method === 'GET').map(({ path }) => path));
    const items = everyOperation.filter(({ method, path }) => method === 'DELETE' && /\}$/.test(path));
    expect(items.map(({ path }) => path).filter((path) => !paths.has(path))).toEqual([]);
  });

  test('includes the query log, whose rows have larger IDs than entities', async () => {
    await storeRows(suite.database, [logRow({ timestampMs: api.clock.nowMs() - 1000 })]);
    const { data } = QueryLogPage.parse((await ask('GET', '/api/queries')).body);
    expect(data[0]!.id).toBeGreaterThan(MAX_ID);
    const one = await ask('GET', `/api/queries/${data[0]!.id}`);
    expect([one.status, one.body]).toEqual([200, data[0]]);
    expect(checker.faultsOf('GET /queries/{id}', one)).toEqual([]);
    const ids = ['7', String(data[0]!.id + 1), '0', '9'.repeat(16), 'x', '1e3'];
    const answers = await Promise.all(ids.map((id) => ask('GET', `/api/queries/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 400, 400]);
    expect((await ask('GET', '/api/queries/timeline')).status).toBe(200);
  });

  test('that supports creation answers 201 with the entity', () => {
    expect(creating.filter(({ entity }) => entity === undefined).map(({ name }) => name)).toEqual([]);
  });
});

/** Reads a body, edits it, and sends it back if the entity is still unchanged. */
async function editAt(method: string, path: string, change: Fields): Promise<TestAnswer> {
  const { body, headers } = await ask('GET', path);
  const answer = await ask(method, path, {
    json: { ...(body as Fields), ...change },
    ifMatch: headers['etag'] as string,
  });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer;
}

describe('a body that is read, edited and sent back', () => {
  test('is accepted for the DNS settings, and for the schedule of a group', async () => {
    await ask('PUT', '/api/settings', { json: { local_domain: 'home.arpa' } });
    await ask('PUT', `/api/groups/${own.group}/schedule`, { json: { profile_id: own.profile } });
    const other = await created('POST /schedule-profiles');
    for (const [path, change] of [
      ['/api/settings', { local_domain: 'lan' }],
      [`/api/groups/${own.group}/schedule`, { profile_id: (other.answer.body as Fields)['id'] }],
    ] as const) {
      const before = await ask('GET', path);
      expect((await editAt('PUT', path, {})).headers['weir-revision']).toBeUndefined();
      expect((await ask('GET', path)).body).toEqual(before.body);
      expect((await editAt('PUT', path, change)).headers['etag']).not.toBe(before.headers['etag']);
      const stale = await ask('PUT', path, { json: change, ifMatch: before.headers['etag'] as string });
      expect(stale.status).toBe(412);
    }
  });

  test('is checked against the ETag if a POST changes an existing entity', async () => {
    for (const [path, change] of [
      ['/api/settings', { local_domain: 'example.org' }],
      ['/api/config', { dns: { local_domain: 'example.org' } }],
    ] as const) {
      const stale = await ask('POST', path, { json: change, ifMatch: '"stale"' });
      expect([stale.status, stale.problem.error]).toEqual([412, 'precondition_failed']);
      expect((await ask('GET', path)).text).not.toContain('example.org');
      const { etag = '' } = (await ask('GET', path)).headers as { etag?: string };
      expect((await ask('POST', path, { json: change, ifMatch: etag })).status).toBe(200);
      await ask('POST', path, {
        json: path === '/api/config' ? { dns: { local_domain: null } } : { local_domain: '' },
      });
    }
  });

  test('keeps a client in the group of its network, unless the group is edited', async () => {
    await ask('POST', '/api/client-subnets', {
      json: { subnet_cidr: '100.64.7.0/24', group_id: own.group },
    });
    const made = await ask('POST', '/api/clients', { json: { ip_address: '100.64.7.9' } });
    const { location = '' } = made.headers as { location?: string };
    expect(made.body).toMatchObject({ group_id: own.group, group_source: 'subnet' });
    const named = await editAt('PATCH', location, { name: 'printer' });
    expect(named.body).toMatchObject({ name: 'printer', group_source: 'subnet' });
    const moved = await editAt('PATCH', location, { group_id: 1 });
    expect(moved.body).toMatchObject({ group_id: 1, group_source: 'manual' });
    const chosen = await ask('PATCH', location, { json: { group_id: own.group } });
    expect(chosen.body).toMatchObject({ group_id: own.group, group_source: 'manual' });
    expect((await ask('PUT', `${location}/group`, { json: {}, ifMatch: '"stale"' })).status).toBe(400);
    const json = { group_id: null };
    expect((await ask('PUT', `${location}/group`, { json, ifMatch: '"stale"' })).status).toBe(412);
    const { etag = '' } = chosen.headers as { etag?: string };
    expect((await ask('PUT', `${location}/group`, { json, ifMatch: etag })).status).toBe(200);
  });

  test('may change the name or value of a local record through any of the fields that contain it', async () => {
    const json = { hostname: 'nas', domain: 'home.arpa', value: '192.0.2.30' };
    const made = await ask('POST', '/api/local-records', { json });
    const { location = '' } = made.headers as { location?: string };
    const shown = async (change: Fields): Promise<unknown[]> => {
      const { fqdn, value, ip } = (await editAt('PUT', location, change)).body as Fields;
      return [fqdn, value, ip];
    };
    expect(await shown({ value: '192.0.2.31' })).toEqual(['nas.home.arpa', '192.0.2.31', '192.0.2.31']);
    expect(await shown({ ip: '192.0.2.32' })).toEqual(['nas.home.arpa', '192.0.2.32', '192.0.2.32']);
    expect(await shown({ hostname: 'box' })).toEqual(['box.home.arpa', '192.0.2.32', '192.0.2.32']);
    expect(await shown({ fqdn: 'nas.lan' })).toEqual(['nas.lan', '192.0.2.32', '192.0.2.32']);
  });

  test('is rejected if it has a field that the entity does not have', async () => {
    const { location } = await created('POST /groups');
    const answer = await ask('PUT', location, { json: { surprise: 1, client_count: 'many' } });
    expect([answer.status, answer.problem.errors]).toEqual([
      400,
      [{ path: 'surprise', message: 'unknown field' }],
    ]);
  });
});

test('If-None-Match with the ETag of an entity returns 200, as the ETag does not cover all fields', async () => {
  const { location, etag } = await created('POST /groups');
  const answer = await api.send('GET', location, { session, headers: { 'if-none-match': etag } });
  expect(answer.status).toBe(200);
});
