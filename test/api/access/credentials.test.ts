/**
 * Access of each kind of credentials to each route: every operation of the OpenAPI document of a running server, and
 * every route of the compatibility API. The rules are those of the roles: a viewer reads, family pauses and grants, an
 * admin does everything, and all others reach only public routes. The handlers themselves do not run.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Express } from 'express';
import type { Access } from '../../../control-plane/api/route-access.ts';
import { createApp } from '../../../control-plane/web/server/app.ts';
import { checkTable, type CompatContext, compatTable } from '../../../control-plane/node/route-table.ts';
import type { OpenApiDocument } from '../../../control-plane/web/reference/openapi-document.ts';
import { everyCompatRoute, everyOperation, everyRoute } from '../../support/parts/every-route.ts';
import { logInAs, makeToken, makeUser } from '../../support/parts/people.ts';
import { RunningApi, type TestRequest } from '../../support/parts/running-api.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../support/parts/suite-database.ts';
import { RowWatch } from '../../support/parts/watched-rows.ts';
import { disguises, inTurn, methodsInDisguise, type Trick } from './path-tricks.ts';

/** Result of a request; `through` means that the handler is called. */
type Verdict = 'through' | 401 | 403;

/** Results for each access level: the handler is called for the levels in `open`; all others get `refusal`. */
function verdicts(refusal: Verdict, ...open: Access[]): Record<Access, Verdict> {
  const of = (access: Access): Verdict => (open.includes(access) ? 'through' : refusal);
  const [member, family, viewer, admin] = [of('member'), of('family'), of('viewer'), of('admin')];
  return { public: 'through', member, family, viewer, admin };
}
const STRANGER = verdicts(401);
const FAMILY = verdicts(403, 'member', 'family');
const VIEWER = verdicts(403, 'member', 'viewer');
const ADMIN = verdicts(403, 'member', 'family', 'viewer', 'admin');

let suite: SuiteDatabase;
/** Both APIs: the native one under /svc/api, the compatibility API under /api. */
let api: RunningApi;
const watch = new RowWatch();
/** The credentials that a request carries, by their names. */
let carried: Record<string, TestRequest>;
let operations: { readonly method: string; readonly path: string; readonly access: Access }[];
let document: OpenApiDocument;

const cookie = (session: string): TestRequest => ({ session });
const field = (name: string, text: string): TestRequest => ({ headers: { [name]: text } });
const key = (text: string): TestRequest => field('x-api-key', text);

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, watch.native(everyRoute()), {
    toml: 'server.alt_compat = true',
    compat: watch.compat(everyCompatRoute()),
  });
  await api.setUp();
  const expired = await api.logIn();
  api.clock.advanceSecs(24 * 3600);
  const admin = await api.logIn();
  const made: Record<string, TestRequest> = {};
  for (const role of ['viewer', 'admin'] as const) {
    const username = `a-${role}`;
    await makeUser(api, admin, { username, role });
    const session = await logInAs(api, username);
    made[`session of a ${role}`] = cookie(session);
    made[`session of a ${role} in the field sid`] = field('sid', session);
    made[`session of a ${role} in the cookie sid`] = field('cookie', `sid=${session}`);
    const token = await makeToken(api, admin, { name: role, role });
    made[`token of a ${role}`] = key(token.key);
    made[`token of a ${role} as Bearer`] = field('authorization', `Bearer ${token.key}`);
  }
  await makeUser(api, admin, { username: 'frida', role: 'family' });
  const session = await logInAs(api, 'frida');
  made['session of a family'] = cookie(session);
  made['session of a family in the field sid'] = field('sid', session);
  made['session of a family in the cookie sid'] = field('cookie', `sid=${session}`);
  const { id } = await makeUser(api, admin, { username: 'disabled', role: 'admin' });
  const disabled = await logInAs(api, 'disabled');
  await api.send('PATCH', `${api.prefix}/users/${id}`, { session: admin, json: { enabled: false } });
  const revoked = await makeToken(api, admin, { name: 'revoked' });
  await api.send('DELETE', `${api.prefix}/api-tokens/${revoked.id}`, { session: admin });
  carried = {
    ...made,
    none: {},
    'a bad cookie': cookie('A'.repeat(43)),
    'a bad key': key(`weir_${'A'.repeat(43)}`),
    'a revoked token': key(revoked.key),
    'the session of a disabled user': cookie(disabled),
    'an expired session': cookie(expired),
    'the session of the administrator': cookie(admin),
    'a session as a key': key(admin),
    'a session as Bearer': field('authorization', `Bearer ${admin}`),
    'a name and a password': field('authorization', `Basic ${btoa('admin:a password')}`),
    'header fields with which proxies name users': {
      headers: { 'x-forwarded-user': 'admin', 'remote-user': 'admin', 'x-forwarded-for': '127.0.0.1' },
    },
  };
  document = (await api.send('GET', `${api.prefix}/openapi.json`, { session: admin }))
    .body as OpenApiDocument;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      access: operation['x-weir-access'],
    })),
  );
  watch.begin();
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

const STRANGERS = [
  'none',
  'a bad cookie',
  'a bad key',
  'a revoked token',
  'the session of a disabled user',
  'an expired session',
  'a session as a key',
  'a session as Bearer',
  'a name and a password',
  'header fields with which proxies name users',
];
const sessionsOf = (role: string): string[] =>
  ['', ' in the field sid', ' in the cookie sid'].map((way) => `session of a ${role}${way}`);
const ways = (role: string): string[] => [
  ...sessionsOf(role),
  `token of a ${role}`,
  `token of a ${role} as Bearer`,
];
const KINDS: readonly (readonly [string, Record<Access, Verdict>])[] = [
  ...STRANGERS.map((kind) => [kind, STRANGER] as const),
  ...sessionsOf('family').map((kind) => [kind, FAMILY] as const),
  ...ways('viewer').map((kind) => [kind, VIEWER] as const),
  ...ways('admin').map((kind) => [kind, ADMIN] as const),
  ['the session of the administrator', ADMIN],
];

/** The path of an operation, with its parameters filled in. */
function placeOf(path: string): string {
  return `${api.prefix}${path.replace('{id}', '99').replaceAll(/\{\w+\}/g, 'x')}`;
}

/** Result of a request. The handler of the OpenAPI document is not watched, so its status decides. */
async function verdictOf(method: string, place: string, request: TestRequest): Promise<number | 'through'> {
  const { status, headers } = await api.send(method, place, request);
  const runs = watch.check();
  if (status === 401) expect(headers['www-authenticate']).toBeDefined();
  return runs.length > 0 || (place.endsWith('/openapi.json') && status === 200) ? 'through' : status;
}

describe('access to the operations in the OpenAPI document', () => {
  test.each(KINDS)('is as documented for the credentials: %s', async (kind, rights) => {
    const wrong: unknown[] = [];
    for (const { method, path, access } of operations) {
      const verdict = await verdictOf(method, placeOf(path), carried[kind]!);
      if (verdict !== rights[access]) wrong.push([method, path, verdict, rights[access]]);
    }
    expect([operations.length > 100, wrong]).toEqual([true, []]);
  });

  test.each<[string, Record<Access, Verdict>]>([
    ['none', STRANGER],
    ['session of a viewer', VIEWER],
    ['session of a family', FAMILY],
  ])('is the same for HEAD as for GET with the credentials: %s', async (kind, rights) => {
    for (const { path, access } of operations.filter(({ method }) => method === 'GET')) {
      const verdict = await verdictOf('HEAD', placeOf(path), carried[kind]!);
      expect([path, verdict]).toEqual([path, rights[access]]);
    }
  });
});

describe('the OpenAPI document', () => {
  /** Routes of routers and of the application itself, written as in the OpenAPI document. */
  function servedBy(app: Express): { routes: Set<string>; places: string[] } {
    interface Layer {
      readonly route?: { readonly path: string | RegExp; readonly methods: Record<string, boolean> };
      readonly handle: { readonly stack?: Layer[] };
    }
    const routes = new Set<string>();
    const places: string[] = [];
    for (const { route, handle } of app.router.stack as unknown as Layer[]) {
      if (route !== undefined) places.push(String(route.path));
      for (const { route: inner } of handle.stack ?? [])
        for (const method of Object.keys(inner?.methods ?? {}))
          if (method !== '_all')
            routes.add(`${method.toUpperCase()} ${String(inner!.path).replaceAll(/:(\w+)/g, '{$1}')}`);
    }
    return { routes, places };
  }

  test('has every route that is served, and no other route', () => {
    const { routes, places } = servedBy(
      createApp(api.parts, api.routes, { compat: [], check: checkTable(api.parts) }),
    );
    const probes = ['POST /probes', 'GET /probes/{probe_id}'];
    const pages = [
      'GET /login/oidc',
      'GET /login/oidc/callback',
      'GET /phone-profiles/{token}',
      'POST /unblock-requests',
    ];
    const documented = operations.map(({ method, path }) => `${method} ${path}`);
    expect(documented).toEqual(expect.arrayContaining(probes));
    expect([...routes].sort()).toEqual([...documented, ...pages].sort());
    expect(documented.sort()).toEqual(everyOperation.map(({ method, path }) => `${method} ${path}`).sort());
    // Routes outside both APIs: pages, metrics for Prometheus, and paths of old clients. The dashboard is not listed:
    // it serves the paths of its pages and build files, and passes on all other requests.
    expect(places.sort()).toEqual(['/^\\/admin\\/api/', '/check', '/docs', '/metrics']);
  });

  test('states the accepted credentials of each operation', () => {
    for (const methods of Object.values(document.paths))
      for (const { security, 'x-weir-access': access, responses } of Object.values(methods)) {
        expect(security).toHaveLength(access === 'public' ? 0 : 4);
        if (access !== 'public') expect(responses).toHaveProperty('401');
      }
  });

  test('restricts changes to administrators, except login, setup, own account and grants of family users', () => {
    const open = operations.filter(({ method, access }) => method !== 'GET' && access !== 'admin');
    expect(open.map(({ method, path, access }) => `${method} ${path}: ${access}`).sort()).toEqual([
      'DELETE /auth/sessions/{id}: member',
      'DELETE /grants/{id}: family',
      'DELETE /unblock-requests/{id}: family',
      'POST /auth/change-password: member',
      'POST /auth/login: public',
      'POST /auth/logout: public',
      'POST /auth/second-factor/confirm: member',
      'POST /auth/second-factor/disable: member',
      'POST /auth/second-factor/recovery-codes: member',
      'POST /auth/second-factor: member',
      'POST /auth/setup: public',
      'POST /grants: family',
    ]);
  });

  test('has the public routes of the specification, and no other public route', () => {
    const open = operations.filter(({ access }) => access === 'public');
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /auth/status',
      'GET /health',
      'POST /auth/login',
      'POST /auth/logout',
      'POST /auth/setup',
    ]);
  });
});

describe('a viewer', () => {
  test('reads everything but audit log, node log, phone set-up, tokens and backups', () => {
    const closed = operations.filter(({ method, access }) => method === 'GET' && access === 'admin');
    expect(closed.map(({ path }) => path).sort()).toEqual([
      '/api-tokens',
      '/api-tokens/{id}',
      '/audit-log',
      '/audit-log/{id}',
      '/backup',
      '/clients/{id}/phone-setup',
      '/system/log',
    ]);
  });
});

describe('a user of the role family', () => {
  test('may call only public routes and routes for its account, its clients, their grants and requests', () => {
    const open = operations.filter(({ access }) => FAMILY[access] === 'through' && access !== 'public');
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'DELETE /auth/sessions/{id}',
      'DELETE /grants/{id}',
      'DELETE /unblock-requests/{id}',
      'GET /auth/second-factor',
      'GET /auth/sessions',
      'GET /auth/sessions/{id}',
      'GET /clients',
      'GET /clients/{id}',
      'GET /clients/{id}/services',
      'GET /grants',
      'GET /grants/{id}',
      'GET /unblock-requests',
      'GET /unblock-requests/{id}',
      'POST /auth/change-password',
      'POST /auth/second-factor',
      'POST /auth/second-factor/confirm',
      'POST /auth/second-factor/disable',
      'POST /auth/second-factor/recovery-codes',
      'POST /grants',
    ]);
  });

  test.each(['/metrics', '/metrics?x=1'])('cannot read %s', async (path) => {
    expect((await api.send('GET', path, carried['session of a family'])).status).toBe(403);
  });
});

const rows = compatTable({} as CompatContext);

describe('access to the compatibility API', () => {
  /** In the compatibility API, tokens serve as passwords, not as credentials of requests. */
  const isIn = (kind: string): boolean =>
    kind.startsWith('session of') || kind.startsWith('the session of the');

  test.each(KINDS.map(([kind]) => kind))('is as documented for the credentials: %s', async (kind) => {
    const wrong: unknown[] = [];
    for (const { method, path, access } of rows) {
      const verdict = await verdictOf(method, `/api${path}`, carried[kind]!);
      const refusal = sessionsOf('family').includes(kind) ? 403 : 401;
      const wanted = access === 'public' || (isIn(kind) && refusal === 401) ? 'through' : refusal;
      if (verdict !== wanted) wrong.push([method, path, verdict, wanted]);
    }
    expect([rows.length > 20, wrong]).toEqual([true, []]);
  });

  test('is public only for opening and ending a session', () => {
    const open = rows.filter(({ access }) => access === 'public');
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'DELETE /auth',
      'GET /auth',
      'GET /info/login',
      'POST /auth',
    ]);
  });
});

describe('a path or method in an unusual form', () => {
  /** Requests that reached a handler which the caller may not use. */
  async function reachedBy(kind: string, asked: readonly Trick[]): Promise<unknown[]> {
    const wrong: unknown[] = [];
    const isAllowed = (access: string): boolean =>
      access === 'public' ||
      (kind !== 'none' && access === 'member') ||
      (kind === 'session of a viewer' && (access === 'viewer' || access === 'session')) ||
      (kind === 'session of a family' && access === 'family');
    for (const [method, place, headers] of asked) {
      const request = { ...carried[kind]!, headers: { ...carried[kind]!.headers, ...headers } };
      const { status } = await api.send(method, place, request);
      const runs = watch.check();
      if (runs.some(({ access }) => !isAllowed(access))) wrong.push([method, place, headers, runs]);
      // No response without a handler may be a success, except to OPTIONS, which lists the methods of a path for every
      // client.
      if (runs.length === 0 && status < 300 && method !== 'OPTIONS')
        wrong.push([method, place, headers, status]);
    }
    return wrong;
  }

  test('gives an anonymous client no access to a protected route of either API', async () => {
    const native = operations.map((row) => ({
      ...row,
      prefix: api.prefix,
      path: placeOf(row.path).slice(api.prefix.length),
    }));
    const compat = rows.map((row) => ({ ...row, prefix: '/api' }));
    const asked = [...native, ...compat]
      .filter(({ access }) => access !== 'public')
      .flatMap(({ method, prefix, path }, turn) =>
        inTurn(disguises(prefix, path), turn).map((place): Trick => [method, place]),
      );
    expect([asked.length > 800, await reachedBy('none', asked)]).toEqual([true, []]);
  });

  test.each<[string, Record<Access, Verdict>]>([
    ['viewer', VIEWER],
    ['family', FAMILY],
  ])('gives a %s no access to a route for other roles', async (role, rights) => {
    const asked = operations
      .filter(({ access }) => rights[access] === 403)
      .flatMap(({ method, path }, turn) => [
        ...inTurn(methodsInDisguise(method, placeOf(path), `${api.prefix}/health`), turn),
        ...inTurn(disguises(api.prefix, placeOf(path).slice(api.prefix.length)), turn).map((place): Trick => [
          method,
          place,
        ]),
      ]);
    expect([asked.length > 300, await reachedBy(`session of a ${role}`, asked)]).toEqual([true, []]);
  });
});
