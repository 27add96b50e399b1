import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { logInAs, makeUser } from '../../../test/support/parts/people.ts';
import { PASSWORD, RunningApi, sessionCookie } from '../../../test/support/parts/running-api.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { SystemLog, SystemStorage } from '../../../shared/api/system-api.ts';

let suite: SuiteDatabase;
let api: RunningApi;
let admin: string;
let viewer: string;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute(), { toml: '' });
  await api.setUp();
  const login = await api.send('POST', '/api/auth/login', {
    json: { username: 'admin', password: PASSWORD },
  });
  admin = sessionCookie(login)!.secret;
  await makeUser(api, admin, { username: 'vera', role: 'viewer' });
  viewer = await logInAs(api, 'vera');
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

describe('GET /system/storage', () => {
  test('returns the disk of the data directory and the size of the database, also to viewers', async () => {
    const { status, body } = await api.send('GET', '/api/system/storage', { session: viewer });
    expect(status).toBe(200);
    const { database_bytes: database, ...disk } = SystemStorage.parse(body);
    expect(disk).toEqual({ disk_free_bytes: 2 ** 30, disk_size_bytes: 2 ** 34, spool_bytes: null });
    const { rows } = await suite.database.query<{ bytes: number }>(
      'SELECT pg_database_size(current_database())::bigint AS bytes',
    );
    expect(Math.abs(database! - rows[0]!.bytes)).toBeLessThan(rows[0]!.bytes / 10);
  });
});

describe('GET /system/log', () => {
  test('returns warnings and errors to administrators, newest first', async () => {
    const { status, body } = await api.send('GET', '/api/system/log', { session: admin });
    expect(status).toBe(200);
    expect(SystemLog.parse(body)).toEqual([
      { timestamp: '1970-01-01T00:00:01.000Z', level: 'error', message: 'disk full', fields: '' },
      {
        ...{ timestamp: '1970-01-01T00:00:00.000Z', level: 'warn', message: 'could not download' },
        fields: 'list=3',
      },
    ]);
  });

  test('is refused to a viewer', async () => {
    expect((await api.send('GET', '/api/system/log', { session: viewer })).status).toBe(403);
  });
});
