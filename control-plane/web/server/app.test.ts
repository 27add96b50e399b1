import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { RunningApi } from '../../../test/support/parts/running-api.ts';
import { openSuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { IdParams } from '../../../shared/api/fields.ts';
import { OpenApiAnswer } from '../../../shared/api/zod.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { OpenApiDocument } from '../reference/openapi-document.ts';

let suite: SuiteDatabase;
let api: RunningApi;
let compat: RunningApi;

const row = { access: 'public', tag: 'Things', summary: 'Of a thing' } as const;
const rows: readonly Route[] = [
  route({
    ...row,
    method: 'GET',
    path: '/things/{id}',
    params: IdParams,
    answer: OpenApiAnswer,
    handle: ({ params }) => ({ openapi: '3.1.0' as const, id: params.id }),
  }),
  route({ ...row, method: 'DELETE', path: '/things/{id}', params: IdParams, handle: () => undefined }),
  route({ ...row, method: 'POST', path: '/things', status: 202, handle: () => undefined }),
  route({
    ...row,
    method: 'GET',
    path: '/broken',
    handle: () => {
      throw new Error('a secret of the machine');
    },
  }),
];

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, () => rows, { toml: '' });
  compat = await RunningApi.start(suite.database, () => rows, {
    toml: 'auth.enabled = false\nserver.alt_compat = true',
  });
});
afterAll(async () => {
  await api.close();
  await compat.close();
  await suite.close();
});

test('createApp() answers an ACME challenge under any host name, and nothing else there', async () => {
  const path = '/.well-known/acme-challenge/token-1';
  const challengeAnswer = (target: string): string | null => (target === path ? 'token-1.key' : null);
  const ordering = await RunningApi.start(suite.database, () => rows, { toml: '', challengeAnswer });
  const headers = { host: 'dns.example.org' };
  const answers = [
    await ordering.send('GET', path, { headers }),
    await ordering.send('GET', `${path}x`, { headers }),
    await ordering.send('POST', path, { headers }),
  ];
  await ordering.close();
  expect(answers.map(({ status }) => status)).toEqual([200, 421, 421]);
  expect(answers[0]!.text).toBe('token-1.key');
});

describe('createApp() with routes', () => {
  test('calls the route for a path and method, with the path parameters, and responds with its status', async () => {
    const found = await api.send('GET', '/api/things/7');
    expect([found.status, found.body]).toEqual([200, { openapi: '3.1.0', id: 7 }]);
    const removed = await api.send('DELETE', '/api/things/7');
    expect([removed.status, removed.text]).toEqual([204, '']);
    const made = await api.send('POST', '/api/things');
    expect([made.status, made.text]).toEqual([202, '']);
  });

  test('answers 405 to unsupported methods of a path, and lists the supported methods', async () => {
    const answer = await api.send('PUT', '/api/things/1');
    expect([answer.status, answer.problem.error]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers['allow']).toBe('GET, DELETE, HEAD, OPTIONS');
    expect((await api.send('GET', '/api/things')).headers['allow']).toBe('POST, OPTIONS');
  });

  test('distinguishes upper and lower case in paths, and answers 404 to unknown paths', async () => {
    for (const path of ['/api/THINGS', '/api/nothing', '/nothing', '/api']) {
      const answer = await api.send('POST', path);
      expect([path, answer.status, answer.problem.error]).toEqual([path, 404, 'not_found']);
    }
  });

  test('shows internal errors in the log only', async () => {
    const answer = await api.send('GET', '/api/broken');
    expect([answer.status, answer.problem.error]).toEqual([500, 'internal']);
    expect(answer.text).not.toContain('secret');
    expect(api.logger.text()).toContain('a secret of the machine');
  });

  test('logs every request with its status', async () => {
    await api.send('POST', '/api/things');
    expect(api.logger.lines.at(-1)).toMatchObject({
      level: 'debug',
      message: 'http request',
      fields: { method: 'POST', path: '/api/things', status: 202 },
    });
  });

  test('adds the OpenAPI document, for users with a role only', async () => {
    const described = await compat.send('GET', '/svc/api/openapi.json');
    const document = described.body as OpenApiDocument;
    expect(Object.keys(document.paths)).toEqual(['/things/{id}', '/things', '/broken', '/openapi.json']);
    expect(document.servers.map(({ url }) => url)).toEqual(['/svc/api', '/api']);
    expect((await api.send('GET', '/api/openapi.json')).status).toBe(401);
  });
});

describe('createApp() with Prefer: wait', () => {
  test('waits for other nodes after a change that concerns them, and reports nodes that lag', async () => {
    const asked: number[] = [];
    const changing = { ...row, method: 'POST', handle: () => undefined } as const;
    const waiting = await RunningApi.start(
      suite.database,
      () => [
        route({ ...changing, access: 'admin', path: '/changes' }),
        route({ ...changing, access: 'admin', path: '/others', waits: false }),
        route({ ...changing, access: 'admin', path: '/accepted', status: 202 }),
        route({ ...changing, access: 'public', path: '/login' }),
      ],
      {
        waitForNodes: async (withinMs) => {
          asked.push(withinMs);
          if (withinMs === 3000) throw new DatabaseUnavailable('gone');
          return withinMs === 0 ? ['edge', 'dachböden'] : [];
        },
      },
    );
    const reported = async (path: string, prefer: string): Promise<unknown[]> => {
      const { status, headers } = await waiting.send('POST', path, { json: {}, headers: { prefer } });
      return [status, headers['preference-applied'], headers['weir-nodes-behind']];
    };
    expect(await reported('/api/changes', 'wait=2')).toEqual([204, 'wait=2', undefined]);
    expect(await reported('/api/changes', 'wait=0')).toEqual([204, 'wait=0', 'edge, dachb%C3%B6den']);
    expect(asked).toEqual([2000, 0]);
    // Without a database, nothing is known about other nodes; and some changes do not affect them.
    expect(await reported('/api/changes', 'wait=3')).toEqual([204, undefined, undefined]);
    expect(await reported('/api/others', 'wait=2')).toEqual([204, undefined, undefined]);
    expect(await reported('/api/accepted', 'wait=2')).toEqual([202, undefined, undefined]);
    expect(await reported('/api/login', 'wait=2')).toEqual([204, undefined, undefined]);
    expect(await reported('/api/changes', 'respond-async')).toEqual([204, undefined, undefined]);
    expect(asked).toHaveLength(3);
    await waiting.close();
  });
});

describe('createApp() in compatibility mode', () => {
  test('moves the native API to /svc/api', async () => {
    expect((await compat.send('POST', '/svc/api/things')).status).toBe(202);
    expect((await compat.send('POST', '/api/things')).status).toBe(404);
    expect((await api.send('POST', '/api/things')).status).toBe(202);
    expect((await api.send('POST', '/svc/api/things')).status).toBe(404);
  });

  test('sends the API path to the dashboard in svc-config.js', async () => {
    const plain = await api.send('GET', '/svc-config.js');
    expect(plain.headers['content-type']).toContain('text/javascript');
    expect(plain.text).toBe(
      'window.__SVC_CONFIG__ = {"apiBase":"/api","compat":false,"version":"0.0.0-test"};\n',
    );
    const moved = await compat.send('GET', '/svc-config.js');
    expect(moved.text).toContain('"apiBase":"/svc/api","compat":true');
  });
});

describe('createApp() with pages', () => {
  test.each(['/', '/docs'])(
    'serves %s as HTML whose only style is allowed by its content security policy',
    async (path) => {
      const { status, headers, text } = await api.send('GET', path);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      const style = /<style>([\s\S]*?)<\/style>/.exec(text)![1]!;
      const hash = createHash('sha256').update(style).digest('base64');
      expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
      expect(text).not.toMatch(/<script|<link|<img|style=|https?:\/\/(?!127\.0\.0\.1:)/);
    },
  );

  test('explains the next steps on /, with the requested host name', async () => {
    const { text } = await api.send('GET', '/', { headers: { host: 'localhost:81' } });
    expect(text).toContain('weir set-password');
    expect(text).toContain('-p 5353');
    expect(text).toContain('http://localhost:81/api/auth/setup');
  });

  test('describes its routes on /docs', async () => {
    expect((await compat.send('GET', '/docs')).text).toContain('/svc/api/things/{id}');
  });
});
