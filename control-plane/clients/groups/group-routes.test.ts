/** Groups over HTTP and in the database. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { groupRoutes } from './group-routes.ts';
import { Group, GroupList } from '../../../shared/api/policy/groups-api.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = groupRoutes;

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));
beforeEach(() => {
  api.policyChanges = 0;
});

const post = (json: unknown): Promise<TestAnswer> => api.send('POST', '/api/groups', { json });
const put = (id: number, json: unknown): Promise<TestAnswer> =>
  api.send('PUT', `/api/groups/${id}`, { json });

async function create(name: string): Promise<Group> {
  return Group.parse((await post({ name })).body);
}

function pathsOf(answer: TestAnswer): string[] {
  return [...new Set(answer.problem.errors!.map((fault) => fault.path))];
}

describe('groups over the API', () => {
  test('contain only Default, with ID 1, at first', async () => {
    const groups = GroupList.parse((await api.send('GET', '/api/groups')).body);
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({
      id: 1,
      name: 'Default',
      enabled: true,
      is_default: true,
      client_count: 0,
    });
  });

  test('are created with defaults for missing fields, and activated', async () => {
    const answer = await post({ name: 'Kids' });
    expect(answer.status).toBe(201);
    const group = Group.parse(answer.body);
    expect(group).toMatchObject({
      name: 'Kids',
      enabled: true,
      comment: '',
      is_default: false,
      no_ipv6: false,
    });
    expect(api.policyChanges).toBe(1);
    const read = await api.send('GET', `/api/groups/${group.id}`);
    expect([read.status, read.body]).toEqual([200, group]);
  });

  test('accept names in any script, and every field', async () => {
    const json = { name: 'Kinder 🧒 – дети', enabled: false, comment: 'line one\nline two\t"quoted" <b>' };
    expect((await post(json)).body).toMatchObject(json);
    expect((await post({ name: 'Guests', comment: null })).body).toMatchObject({ comment: '' });
  });

  test('are listed with Default first, then by name', async () => {
    for (const name of ['zeta', 'Alpha', 'beta']) await create(name);
    const groups = GroupList.parse((await api.send('GET', '/api/groups')).body);
    expect(groups.map(({ name }) => name)).toEqual(['Default', 'Alpha', 'beta', 'zeta']);
  });

  test('keep the fields that a PUT leaves out', async () => {
    const { id } = await create('Kids');
    expect((await put(id, { comment: 'school' })).body).toMatchObject({
      name: 'Kids',
      enabled: true,
      comment: 'school',
    });
    const answer = await put(id, { enabled: false });
    expect(answer.status).toBe(200);
    expect(Group.parse(answer.body)).toMatchObject({ name: 'Kids', enabled: false, comment: 'school' });
    expect((await put(id, {})).body).toMatchObject({ name: 'Kids', enabled: false, comment: 'school' });
    expect(api.policyChanges).toBe(4);
  });

  test('store no_ipv6, also for Default, and a PUT without this field keeps its value', async () => {
    const { id } = await create('Kids');
    for (const group of [id, 1]) {
      expect((await put(group, { no_ipv6: true })).body).toMatchObject({ id: group, no_ipv6: true });
      expect((await put(group, { comment: 'x' })).body).toMatchObject({ no_ipv6: true });
    }
    expect((await put(id, { no_ipv6: null })).status).toBe(400);
  });

  test('are deleted permanently', async () => {
    const { id } = await create('Kids');
    const answer = await api.send('DELETE', `/api/groups/${id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(api.policyChanges).toBe(2);
    for (const method of ['GET', 'DELETE'])
      expect((await api.send(method, `/api/groups/${id}`)).status).toBe(404);
    expect((await put(id, { name: 'Kids' })).status).toBe(404);
  });

  test('have unique names, ignoring case', async () => {
    await create('Kids');
    const { id } = await create('Guests');
    for (const answer of [
      await post({ name: 'Kids' }),
      await post({ name: 'KIDS' }),
      await put(id, { name: 'kids' }),
    ])
      expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
    expect((await put(id, { name: 'GUESTS' })).status).toBe(200);
    expect((await post({ name: 'default' })).status).toBe(409);
  });

  test('exist once if two requests create the same name at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => post({ name: 'Kids' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  test('used by a list are not deleted', async () => {
    const { id } = await create('Kids');
    await suite.database.query(
      "INSERT INTO list_sources (id, name, url) VALUES (900, 'l', 'https://lists.example/a')",
    );
    await suite.database.query('INSERT INTO list_source_groups VALUES (900, $1)', [id]);
    const answer = await api.send('DELETE', `/api/groups/${id}`);
    expect([answer.status, answer.problem.error]).toEqual([409, 'conflict']);
    await suite.database.query('DELETE FROM list_sources WHERE id = 900');
    expect((await api.send('DELETE', `/api/groups/${id}`)).status).toBe(204);
  });

  test('include Default, which cannot be deleted', async () => {
    expect((await api.send('DELETE', '/api/groups/1')).status).toBe(409);
    expect((await put(1, { enabled: false })).status).toBe(409);
    expect((await put(1, { comment: 'everyone else', enabled: true })).status).toBe(200);
    expect(api.policyChanges).toBe(1);
  });

  test('cause no policy change if the request was refused', async () => {
    await post({ name: 'Default' });
    await put(4711, { name: 'x' });
    await api.send('DELETE', '/api/groups/4711');
    expect(api.policyChanges).toBe(0);
  });

  test.each([
    [{}, ['name']],
    [{ name: '' }, ['name']],
    [{ name: ' Kids' }, ['name']],
    [{ name: 'a\nb' }, ['name']],
    [{ name: 'a\u0000b' }, ['name']],
    [{ name: 'x'.repeat(101) }, ['name']],
    [{ name: null }, ['name']],
    [{ name: 'Kids', enabled: 'true' }, ['enabled']],
    [{ name: 'Kids', comment: 'x'.repeat(1001) }, ['comment']],
    [{ name: 'Kids', comment: 5 }, ['comment']],
    [{ name: 'Kids', surprise: 5 }, ['surprise']],
    [{ name: 1, enabled: 1, comment: [], is_default: true }, ['name', 'enabled', 'comment', 'is_default']],
  ])('refuse %j and name every invalid field', async (json, paths) => {
    const answer = await post(json);
    expect([answer.status, answer.problem.error, pathsOf(answer)]).toEqual([400, 'invalid', paths]);
    if ('name' in json) expect((await put(1, json)).status).toBe(400);
  });
});
