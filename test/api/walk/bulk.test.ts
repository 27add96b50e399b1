/** For each collection, a function that makes a body from a number below 65,536. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MAX_BULK_FILTERS, MAX_BULK_ROWS } from '../../../shared/api/policy/bulk-api.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';

type Fields = Record<string, unknown>;

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const bulk = (path: string, json: unknown): Promise<TestAnswer> => api.send('POST', `${path}/bulk`, { json });

/** A body of each collection, by a number below 65,536. */
const COLLECTIONS: readonly (readonly [
  path: string,
  bodyOf: (n: number) => Fields,
  field: string,
  max: number,
])[] = [
  ['/api/managed-domains', (n) => ({ domain: `d${n}.example.org` }), 'domain', MAX_BULK_ROWS],
  ['/api/regex-filters', (n) => ({ pattern: `^d${n}\\.` }), 'pattern', MAX_BULK_FILTERS],
  [
    '/api/clients',
    (n) => ({ ip_address: `10.7.${n >> 8}.${n & 255}`, name: `c${n}` }),
    'ip_address',
    MAX_BULK_ROWS,
  ],
  ['/api/local-records', (n) => ({ fqdn: `h${n}.home.arpa`, value: '192.0.2.1' }), 'value', MAX_BULK_ROWS],
];

async function revisions(): Promise<number> {
  const { rows } = await suite.database.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM revisions',
  );
  return rows[0]!.count;
}

const pathsOf = ({ problem }: TestAnswer): string[] => (problem.errors ?? []).map(({ path }) => path);
const idsOf = ({ body }: TestAnswer): number[] =>
  (body as { created: { id: number }[] }).created.map(({ id }) => id);

describe.each(COLLECTIONS)('%s/bulk', (path, bodyOf, field, max) => {
  test('creates and deletes objects in one revision, in the order of the request', async () => {
    const before = await revisions();
    const create = [3, 1, 2].map(bodyOf);
    const made = await bulk(path, { create });
    expect([made.status, made.text]).toEqual([200, made.text]);
    expect(made.body).toMatchObject({ created: create, deleted: [] });
    expect(made.headers['weir-revision']).toMatch(/^\d+$/);
    const [first, ...others] = idsOf(made);
    expect((await api.send('GET', `${path}/${first!}`)).body).toMatchObject(create[0]!);
    const replaced = await bulk(path, { create: [bodyOf(3), bodyOf(4)], delete: [first] });
    expect(replaced.body).toMatchObject({ created: [bodyOf(3), bodyOf(4)], deleted: [first] });
    expect(await revisions()).toBe(before + 2);
    const gone = await bulk(path, { delete: [...others, ...idsOf(replaced)] });
    expect([gone.status, gone.body]).toMatchObject([200, { created: [] }]);
    expect((await api.send('GET', `${path}/${idsOf(replaced)[0]!}`)).status).toBe(404);
  });

  test('changes nothing for an empty request', async () => {
    const before = await revisions();
    expect((await bulk(path, {})).body).toEqual({ created: [], deleted: [] });
    expect(await revisions()).toBe(before);
  });

  test('reports every error with its index, and stores no row', async () => {
    const before = await revisions();
    const { body } = await api.send('POST', path, { json: bodyOf(10) });
    const create = [bodyOf(11), { ...bodyOf(12), surprise: 1 }, { ...bodyOf(13), comment: 5 }];
    const invalid = await bulk(path, { create, delete: [0] });
    expect([invalid.status, pathsOf(invalid)]).toEqual([
      400,
      ['create.1.surprise', 'create.2.comment', 'delete.0'],
    ]);
    const missing = await bulk(path, { create: [bodyOf(11)], delete: [2_000_000_000] });
    expect([missing.status, pathsOf(missing)]).toEqual([400, ['delete.0']]);
    const taken = await bulk(path, { create: [bodyOf(11), bodyOf(10)] });
    expect([taken.status, taken.problem.error, pathsOf(taken)]).toEqual([
      409,
      'conflict',
      [`create.1.${field}`],
    ]);
    const twice = await bulk(path, { create: [bodyOf(11), bodyOf(12), bodyOf(11)] });
    expect([twice.status, pathsOf(twice)]).toEqual([409, [`create.2.${field}`]]);
    expect(await revisions()).toBe(before + 1);
    expect((await api.send('GET', `${path}/${(body as { id: number }).id}`)).status).toBe(200);
    expect((await api.send('POST', path, { json: bodyOf(11) })).status).toBe(201);
  });

  test(`accepts ${max} rows, and rejects more`, async () => {
    const create = Array.from({ length: max + 1 }, (_, index) => bodyOf(index + 1000));
    expect(pathsOf(await bulk(path, { create }))).toContain('create');
    const made = await bulk(path, { create: create.slice(1) });
    expect(made.status).toBe(200);
    const gone = await bulk(path, { delete: idsOf(made) });
    expect([gone.status, gone.text.length > 0]).toEqual([200, true]);
  });
});

test('rows with an unknown group are reported by index', async () => {
  const create = [{ domain: 'g1.example' }, { domain: 'g2.example', group_id: 4711 }];
  expect(pathsOf(await bulk('/api/managed-domains', { create }))).toEqual(['create.1.group_id']);
  const filters = [{ pattern: '^g1' }, { pattern: '^g2', group_id: 4711 }];
  expect(pathsOf(await bulk('/api/regex-filters', { create: filters }))).toEqual(['create.1.group_id']);
  const clients = [{ ip_address: '10.9.0.1', group_id: 4711 }, { ip_address: '10.9.0.2' }];
  expect(pathsOf(await bulk('/api/clients', { create: clients }))).toEqual(['create.0.group_id']);
});

test('contradictory local records are reported by index', async () => {
  const create = [
    { fqdn: 'a.home.arpa', value: '192.0.2.1' },
    { fqdn: 'a.home.arpa', record_type: 'CNAME', value: 'b.home.arpa' },
    { fqdn: 'c.home.arpa', value: '192.0.2.3', ip: '192.0.2.4' },
  ];
  expect(pathsOf(await bulk('/api/local-records', { create }))).toEqual(['create.2.ip']);
  const contrary = await bulk('/api/local-records', { create: create.slice(0, 2) });
  expect([contrary.status, pathsOf(contrary)]).toEqual([409, ['create.0', 'create.1']]);
  const loop = [
    { fqdn: 'x.home.arpa', record_type: 'CNAME', value: 'y.home.arpa' },
    { fqdn: 'y.home.arpa', record_type: 'CNAME', value: 'x.home.arpa' },
  ];
  expect((await bulk('/api/local-records', { create: loop })).status).toBe(409);
});
