/** Names in bodies: no name may hide its characters, or reorder the text beside it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OpenApiDocument } from '../../../control-plane/web/reference/openapi-document.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';

/** Fields with names that users choose. */
const NAMES = ['name', 'display_name', 'username'];
const REFUSED = {
  'that reorders the text beside it': ['a\u202etxt.exe', 'a\u2066b', 'a\u200fb'],
  'that hides a character': ['a\u200bb', 'a\u00adb', 'a\ufeffb', 'a\u{e0041}b'],
  'that contains a line break': ['a\nb', 'a\u2028b', 'a\u0085b'],
  'that steers a terminal': ['a\u001b[2Jb', 'a\u009b2Jb'],
};

let suite: SuiteDatabase;
let api: RunningApi;
/** Operations with a name in the body. */
let named: {
  readonly method: string;
  readonly path: string;
  readonly field: string;
  readonly body: object;
}[];

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
  const document = (await api.send('GET', '/api/openapi.json')).body as OpenApiDocument;
  named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const body = (requestBody?.content['application/json']?.example ?? {}) as Record<string, unknown>;
      return NAMES.filter((field) => typeof body[field] === 'string').map((field) => ({
        ...{ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, '1') },
        ...{ field, body },
      }));
    }),
  );
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

test.each(Object.entries(REFUSED))('no operation accepts a name %s', async (_what, texts) => {
  const taken: unknown[] = [];
  for (const { method, path, field, body } of named)
    for (const text of texts) {
      const answer = await api.send(method, `/api${path}`, { json: { ...body, [field]: text } });
      const isRefused = answer.status === 400 && answer.problem.errors?.some((fault) => fault.path === field);
      if (isRefused !== true) taken.push([method, path, field, text, answer.status]);
    }
  expect([named.length > 20, taken]).toEqual([true, []]);
});

test('names that identify a user or a token must not contain invisible characters', async () => {
  for (const [path, body, field] of [
    ['/users', { username: 'ann', password: 'correct horse battery' }, 'display_name'],
    ['/api-tokens', {}, 'name'],
  ] as const) {
    const answer = await api.send('POST', `/api${path}`, { json: { ...body, [field]: 'ann\u200d' } });
    expect([answer.status, answer.problem.errors]).toEqual([
      400,
      [{ path: field, message: 'expected no invisible characters, such as U+200D' }],
    ]);
  }
});

test('a group accepts a name with joined emoji or joined letters', async () => {
  for (const name of ['👨\u200d👩\u200d👧', 'می\u200cخواهم'])
    expect((await api.send('POST', '/api/groups', { json: { name } })).body).toMatchObject({ name });
});
