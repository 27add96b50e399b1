import { describe, expect, test } from '@jest/globals';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import { ApiFailure, TypedClient } from './typed-client.ts';
import type { EventOf, Fetch } from './typed-client.ts';

let api: RunningApi;
serveSuite(everyRoute(), (served) => ({ api } = served));

function client(send: Fetch = fetch): TypedClient {
  return new TypedClient({ baseUrl: `http://127.0.0.1:${api.port}${api.prefix}`, fetch: send });
}

/** A client that gets this answer to every request. */
function answeredWith(body: string | null, init: ResponseInit): TypedClient {
  return client(async () => new Response(body, init));
}

async function failureOf(call: Promise<unknown>): Promise<ApiFailure> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ApiFailure);
  return thrown as ApiFailure;
}

describe('TypedClient, an API client,', () => {
  test('call() creates, reads, changes and deletes objects, with the types of the schemas', async () => {
    const made = await client().call('POST /groups', { body: { name: 'Kids' } });
    const { id, is_default: isDefault } = made;
    expect([made.name, isDefault, made.comment]).toEqual(['Kids', false, '']);
    const changed = await client().call('PUT /groups/{id}', { params: { id }, body: { comment: 'both' } });
    expect(await client().call('GET /groups/{id}', { params: { id: String(id) } })).toEqual(changed);
    const gone = await client().send('DELETE /groups/{id}', { params: { id } });
    expect([gone.status, gone.answer]).toEqual([204, undefined]);
    expect((await client().call('GET /groups')).map(({ name }) => name)).toEqual(['Default']);
  });

  test('call() encodes parameters into path and query string, and omits undefined parameters', async () => {
    const asked: string[] = [];
    const noted = client(async (url, request) => {
      asked.push(`${request.method} ${new URL(url).pathname}${new URL(url).search}`);
      return new Response('[]', { headers: { 'content-type': 'application/json' } });
    });
    await noted.call('GET /services/catalog/{service_id}', { params: { service_id: 'a/b?c' } });
    await noted.call('GET /clients', { query: { limit: 5, search: 'ä&b', group_id: undefined } });
    await noted.call('DELETE /custom-services/{service_id}', {
      params: { service_id: 'custom-x' },
      query: { force: true },
    });
    await noted.call('GET /queries', { query: { 'status!': 'CACHED' } });
    expect(asked).toEqual([
      'GET /api/services/catalog/a%2Fb%3Fc',
      'GET /api/clients?limit=5&search=%C3%A4%26b',
      'DELETE /api/custom-services/custom-x?force=true',
      'GET /api/queries?status!=CACHED',
    ]);
  });

  test('send() returns status and header fields with the body', async () => {
    const { status, headers, answer } = await client().send('POST /managed-domains', {
      body: { domain: 'ads.example.org' },
    });
    expect([status, answer.action]).toEqual([201, 'deny']);
    expect(headers.get('Cache-Control')).toBe('no-store');
  });

  test('call() returns files and streams without reading them', async () => {
    const file = await client().call('GET /queries/export', { query: { format: 'csv' } });
    expect(await file.text()).toMatch(/^id,/);
    const stream = await client().call('GET /queries/stream');
    await stream.body!.cancel();
    const event = { rows: [], skipped: 2, nodes: 'own' } satisfies EventOf<'GET /queries/stream'>;
    expect([stream.status, event.skipped]).toEqual([200, 2]);
  });

  test('call() sends the header fields of the client and of the call, and can be aborted by its signal', async () => {
    const seen: Headers[] = [];
    const noted = new TypedClient({
      baseUrl: '/api',
      headers: { 'X-Api-Key': 'k', 'X-Of': 'client' },
      fetch: async (_url, request) => {
        seen.push(new Headers(request.headers));
        request.signal?.throwIfAborted();
        return new Response(null, { status: 204 });
      },
    });
    await noted.call('POST /auth/logout', { headers: { 'X-Of': 'call' } });
    expect([seen[0]!.get('x-api-key'), seen[0]!.get('x-of')]).toEqual(['k', 'call']);
    await expect(
      noted.call('GET /groups', { signal: AbortSignal.abort(new Error('given up')) }),
    ).rejects.toThrow('given up');
  });

  test('call() throws the problem details of an error', async () => {
    const absent = await failureOf(client().call('GET /groups/{id}', { params: { id: 99 } }));
    expect([absent.status, absent.problem!.error, absent.operation]).toEqual([
      404,
      'not_found',
      'GET /groups/{id}',
    ]);
    expect([absent.message, absent.retryAfterSecs]).toEqual([absent.problem!.detail, null]);
    const invalid = await failureOf(client().call('POST /groups', { body: { name: '' } }));
    expect(invalid.problem!.errors!.map(({ path }) => path)).toEqual(['name']);
  });

  test('call() returns the Retry-After time of an error', async () => {
    const type = 'application/problem+json';
    const problem = '{"detail":"locked out","error":"locked_out"}';
    const after = async (retryAfter: string): Promise<ApiFailure> =>
      failureOf(
        answeredWith(problem, {
          status: 429,
          headers: { 'content-type': type, 'retry-after': retryAfter },
        }).call('GET /groups'),
      );
    expect((await after('17')).retryAfterSecs).toBe(17);
    expect((await after('Wed, 21 Oct 2026 07:28:00 GMT')).retryAfterSecs).toBeNull();
  });

  test('call() throws if the response is not from Weir, and accepts the health response of an unhealthy node', async () => {
    const proxy = answeredWith('<h1>Bad gateway</h1>', {
      status: 502,
      headers: { 'content-type': 'text/html' },
    });
    const failure = await failureOf(proxy.call('GET /groups'));
    expect([failure.problem, failure.message]).toEqual([null, 'GET /groups: HTTP status 502']);
    const ill = answeredWith('{"status":"degraded"}', {
      status: 503,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    expect((await ill.call('GET /health')).status).toBe('degraded');
  });

  test('the types of call() reject the same bodies as the schemas', () => {
    const refused = (typed: TypedClient): unknown[] => [
      // @ts-expect-error -- no such operation
      typed.call('GET /grops'),
      // @ts-expect-error -- the path needs an id
      typed.call('GET /groups/{id}'),
      // @ts-expect-error -- a group needs a name
      typed.call('POST /groups', { body: {} }),
      // @ts-expect-error -- no such action
      typed.call('POST /managed-domains', { body: { domain: 'example.org', action: 'block' } }),
      // @ts-expect-error -- no such parameter
      typed.call('GET /queries', { query: { domian: 'example.org' } }),
      // @ts-expect-error -- nothing to send
      typed.call('GET /groups', { body: {} }),
    ];
    expect(refused).toBeInstanceOf(Function);
  });
});
