/** Users over HTTP: reading one user, and conditional changes with `If-Match`. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RunningApi } from '../../../../test/support/parts/running-api.ts';
import { openSuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import { userRoutes } from './user-routes.ts';

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, userRoutes);
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

async function makeUser(username: string): Promise<{ location: string; etag: string }> {
  const json = { username, password: 'correct horse battery', display_name: username };
  const { headers } = await api.send('POST', '/api/users', { json });
  return headers as { location: string; etag: string };
}

describe('the API of a user', () => {
  test('returns the user at the URL in the response to its creation, without the password', async () => {
    const { location } = await makeUser('vera');
    const { status, body, text } = await api.send('GET', location);
    expect(status).toBe(200);
    expect(body).toMatchObject({ username: 'vera', role: 'viewer', source: 'database' });
    expect(text).not.toMatch(/password|argon/);
    expect((await api.send('GET', '/api/users/2000000000')).status).toBe(404);
  });

  test('accepts exactly one of two changes with the same ETag', async () => {
    const { location, etag } = await makeUser('otto');
    const headers = { 'if-match': etag };
    const answers = await Promise.all(
      ['one', 'two'].map((name) =>
        api.send('PATCH', location, {
          headers,
          json: { display_name: name, password: `${name} new password` },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect((await api.send('DELETE', location, { headers })).status).toBe(412);
    expect((await api.send('GET', location)).status).toBe(200);
  });

  test('adds no entry to the audit log if the user is sent back unchanged', async () => {
    const { location } = await makeUser('ada');
    const entries = async (): Promise<unknown> =>
      (await suite.database.query('SELECT count(*) AS count FROM audit_log')).rows[0];
    const before = await entries();
    const { body } = await api.send('GET', location);
    expect((await api.send('PATCH', location, { json: body })).body).toEqual(body);
    expect(await entries()).toEqual(before);
  });
});
