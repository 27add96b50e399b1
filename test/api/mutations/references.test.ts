/** References of a request to missing objects: in a body 400 with the field, in a path 404. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Route } from '../../../control-plane/api/route.ts';
import type { Problem } from '../../../shared/api/problem-details.ts';
import { CHANGING } from '../../support/parts/api-changes.ts';
import { ChangingApi } from '../../support/parts/changing-api.ts';
import { everyOperation, everyRow } from '../../support/parts/every-route.ts';
import { openApiDocument } from '../../../control-plane/web/reference/openapi.ts';

let changing: ChangingApi;
beforeAll(async () => {
  changing = await ChangingApi.open();
});
afterAll(() => changing.close());

const UNKNOWN_ID = 2_000_000_000;
const UNKNOWN_NAME = 'no-such-thing';

const document = openApiDocument(everyRow, '/api', '0.0.0-test');

/** Writable fields of the body that name another entity. */
function referencesOf({ method, path }: Route): string[] {
  const { $ref = '', properties } =
    document.paths[path]![method.toLowerCase()]!.requestBody?.content['application/json']?.schema ?? {};
  const fields = properties ?? document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)]?.properties;
  return Object.entries(fields ?? {})
    .filter(([field, { readOnly }]) => /_ids?$/.test(field) && readOnly !== true)
    .map(([field]) => field);
}

const cases = CHANGING.flatMap((route) =>
  referencesOf(route).map((field) => ({ name: `${route.method} ${route.path}`, route, field })),
);

describe('a reference to another object in a request body', () => {
  test.each(cases)('$name with an unknown $field is 400 and names the field', async ({ route, field }) => {
    const mutation = await changing.prepare(route);
    const id = field === 'service_id' ? UNKNOWN_NAME : UNKNOWN_ID;
    const json = { ...(mutation.json as object), [field]: field.endsWith('s') ? [id] : id };
    // A grant is for a client or a group, not for both.
    if (field === 'client_id' && 'group_id' in json) Object.assign(json, { group_id: null });
    // A grant is not for both a domain and a service either.
    if (field === 'service_id' && 'domain' in json) Object.assign(json, { domain: null });
    const { status, body } = await changing.send({ ...mutation, json });
    // For a list of references, the error may name the index of the unknown reference.
    const paths = ((body as Problem).errors ?? []).map(({ path }) => path.replace(/\.0$/, ''));
    expect([status, paths]).toEqual([400, [field]]);
  });

  test('is tested for every body that contains references', () => {
    expect(cases.map(({ name, field }) => `${name} ${field}`)).toEqual(
      expect.arrayContaining([
        'POST /services service_id',
        'POST /services profile_id',
        'PUT /groups/{id}/schedule profile_id',
        'POST /blocklist-sources group_ids',
        'POST /grants client_id',
        'POST /grants service_id',
        'PATCH /clients/{id} group_id',
      ]),
    );
  });
});

describe('a reference to another object in a path', () => {
  const rows = everyOperation
    .filter(({ params }) => params !== undefined)
    .map((route) => ({ name: `${route.method} ${route.path}`, route }));

  test.each(rows)('$name is 404 for an unknown ID', async ({ route }) => {
    const { method, path } = route;
    // The rest of the request is valid.
    const mutation = method === 'GET' ? {} : await changing.prepare(route);
    const numeric = /\{(?:id|group_id|slot_id)\}/g;
    const target = path.replaceAll(numeric, String(UNKNOWN_ID)).replaceAll(/\{\w+\}/g, UNKNOWN_NAME);
    const { status, body } = await changing.send({ ...mutation, method, path: target });
    expect([status, (body as Problem).error]).toEqual([404, 'not_found']);
  });
});
