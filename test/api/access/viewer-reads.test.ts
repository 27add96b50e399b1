/**
 * Data that a viewer can read, with a session and with a token: everything except secrets, tokens, the audit log and
 * the sessions of other users. The test stores a marker in each of these, and no response of either API to a viewer may
 * contain a marker.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { everyCompatRoute, everyOperation, everyRoute } from '../../support/parts/every-route.ts';
import { logInAs, makeToken, makeUser } from '../../support/parts/people.ts';
import { PASSWORD, RunningApi, sessionCookie, type TestRequest } from '../../support/parts/running-api.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../support/parts/suite-database.ts';

const ADMIN_ADDRESS = '203.0.113.99';
const ADMIN_AGENT = 'browser-of-the-administrator';
const TOKEN_NAME = 'marked-token';

let suite: SuiteDatabase;
let api: RunningApi;
/** Markers that no viewer may read, by kind. */
let marks: Readonly<Record<string, string>>;
let viewers: Readonly<Record<string, TestRequest>>;
/** Ids that paths may contain. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute(), {
    toml: 'server.alt_compat = true\nserver.trusted_proxies = ["127.0.0.0/8"]',
    compat: everyCompatRoute(),
  });
  await api.setUp();
  const from = { 'x-forwarded-for': ADMIN_ADDRESS, 'user-agent': ADMIN_AGENT };
  const login = await api.send('POST', `${api.prefix}/auth/login`, {
    json: { username: 'admin', password: PASSWORD },
    headers: from,
  });
  const session = sessionCookie(login)!.secret;
  const asAdmin = async (path: string, json: unknown): Promise<unknown> => {
    const { status, body, text } = await api.send('POST', `${api.prefix}${path}`, {
      ...{ session, json },
      headers: from,
    });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return body;
  };
  await makeUser(api, session, { username: 'vera', role: 'viewer' });
  const token = await makeToken(api, session, { name: TOKEN_NAME });
  const reading = await makeToken(api, session, { name: 'reading', role: 'viewer' });
  await asAdmin('/groups', { name: 'Guests' });
  const { secret } = (await asAdmin('/auth/second-factor', { password: PASSWORD })) as { secret: string };
  const { rows } = await suite.database.query<{ id: number; hash: string }>(
    `SELECT max(s.id) AS id, (SELECT min(password_hash) FROM users WHERE password_hash IS NOT NULL) AS hash
       FROM sessions AS s WHERE user_agent = $1`,
    [ADMIN_AGENT],
  );
  marks = {
    'the address of the administrator': ADMIN_ADDRESS,
    'the browser of the administrator': ADMIN_AGENT,
    'the session of the administrator': session,
    'the name of a token': TOKEN_NAME,
    'the key of a token': token.key,
    'the prefix of a token': token.prefix,
    'the secret of a second factor': secret,
    'the hash of a password': rows[0]!.hash,
    'the setup code': await api.setupCode.value(),
  };
  viewers = {
    session: { session: await logInAs(api, 'vera') },
    token: { headers: { 'x-api-key': reading.key } },
  };
  const revisions = (await api.send('GET', `${api.prefix}/revisions`, { session })).body as { id: number }[];
  ids = { session: String(rows[0]!.id), revision: String(revisions[0]!.id) };
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

/** Paths of an operation, with each existing id. */
function pathsOf(path: string): string[] {
  const filled = (id: string): string => path.replace('{id}', id).replaceAll(/\{\w+\}/g, '1');
  if (!path.includes('{id}')) return [filled('')];
  return [...new Set(['1', '2', ids['session']!, ids['revision']!])].map(filled);
}

/** Markers found in the responses for these paths. */
async function marksIn(paths: readonly string[], viewer: TestRequest): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const { text } = await api.send('GET', path, viewer);
    for (const [what, mark] of Object.entries(marks)) if (text.includes(mark)) found.push(`${path}: ${what}`);
  }
  return found;
}

const NATIVE = everyOperation.filter(({ method }) => method === 'GET').map(({ path }) => path);

describe.each(['session', 'token'])('a viewer with a %s', (kind) => {
  test('reads no secret, no token and no session of another user', async () => {
    const native = NATIVE.flatMap(pathsOf).map((path) => `${api.prefix}${path}`);
    const beside = ['/metrics', '/docs', '/check', '/svc-config.js', '/'];
    expect(native.length).toBeGreaterThan(100);
    expect(await marksIn([...native, ...beside], viewers[kind]!)).toEqual([]);
  });
});

describe('a viewer of the compatibility API', () => {
  test('reads no secret, no token and no session of another user', async () => {
    const paths = everyCompatRoute()(api.parts)
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => `/api${path}`);
    expect(await marksIn(paths, viewers['session']!)).toEqual([]);
  });
});

test('an administrator sees the author of a revision', async () => {
  const { secret: session } = sessionCookie(
    await api.send('POST', `${api.prefix}/auth/login`, { json: { username: 'admin', password: PASSWORD } }),
  )!;
  const path = `${api.prefix}/revisions/${ids['revision']}`;
  expect((await api.send('GET', path, { session })).body).toMatchObject({ ip_address: ADMIN_ADDRESS });
  expect((await api.send('GET', path, viewers['session'])).body).toMatchObject({
    ...{ ip_address: null, address: null },
  });
});
