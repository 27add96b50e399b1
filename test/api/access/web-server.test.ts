/** The web server around the API: listening, prefixes, pages, the OpenAPI document. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createApp } from '../../../control-plane/http/app.ts';
import type { OpenApiDocument } from '../../../control-plane/http/openapi.ts';
import { startWebServer, WebServerError } from '../../../control-plane/http/server.ts';
import { everyRoute, everyRow } from '../../support/parts/every-route.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';
import { testConfig } from '../../support/parts/test-config.ts';

let suite: SuiteDatabase;
let api: RunningApi;
let compat: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
  compat = await RunningApi.start(suite.database, everyRoute(), {
    toml: 'auth.enabled = false\nserver.alt_compat = true',
  });
});
afterAll(async () => {
  await api.close();
  await compat.close();
  await suite.close();
});

async function document(node: RunningApi, prefix = '/api'): Promise<OpenApiDocument> {
  return (await node.send('GET', `${prefix}/openapi.json`)).body as OpenApiDocument;
}

describe('startWebServer()', () => {
  test('names the port that another program has taken, and listens nowhere then', async () => {
    const holder = createServer().listen(0, '127.0.0.2');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const config = testConfig();
    const server = { ...config.server, web_port: port, bind_address: ['127.0.0.1', '127.0.0.2'] };
    const starting = startWebServer(
      createApp(api.parts, api.routes),
      { ...config, server },
      new MemoryLogger(),
    );
    const error: unknown = await starting.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WebServerError);
    expect(error).toMatchObject({ address: '127.0.0.2', port, code: 'EADDRINUSE' });
    expect((error as Error).message).toContain(`port ${port} is taken`);
    const free = createServer().listen(port, '127.0.0.1');
    await once(free, 'listening');
    free.close();
    holder.close();
  });

  test('listens on every bind address and stops on all', async () => {
    const config = testConfig();
    const server = { ...config.server, bind_address: ['127.0.0.1', '127.0.0.3'] };
    const running = await startWebServer(
      createApp(api.parts, api.routes),
      { ...config, server },
      new MemoryLogger(),
    );
    expect(running.endpoints.map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.3']);
    for (const { address, port } of running.endpoints)
      expect((await fetch(`http://${address}:${port}/api/health`)).status).toBe(200);
    await running.close();
    for (const { address, port } of running.endpoints)
      await expect(fetch(`http://${address}:${port}/api/health`)).rejects.toThrow();
  });

  test('does not pretend to speak HTTPS', async () => {
    const config = testConfig('server.web_tls.enabled = true');
    await expect(
      startWebServer(createApp(api.parts, api.routes), config, new MemoryLogger()),
    ).rejects.toThrow(/web_tls/);
  });
});

describe('prefixes', () => {
  test('the native API moves to /svc/api in compatibility mode', async () => {
    expect((await compat.send('GET', '/svc/api/health')).status).toBe(200);
    expect((await compat.send('GET', '/api/health')).status).toBe(404);
    expect((await api.send('GET', '/api/health')).status).toBe(200);
    expect((await api.send('GET', '/svc/api/health')).status).toBe(404);
  });

  test('svc-config.js tells the dashboard', async () => {
    const plain = await api.send('GET', '/svc-config.js');
    expect(plain.headers['content-type']).toContain('text/javascript');
    expect(plain.text).toBe(
      'window.__SVC_CONFIG__ = {"apiBase":"/api","compat":false,"version":"0.0.0-test"};\n',
    );
    const moved = await compat.send('GET', '/svc-config.js');
    expect(moved.text).toContain('"apiBase":"/svc/api","compat":true');
  });
});

describe('the OpenAPI document', () => {
  test('describes every route of the table, under the prefix in force', async () => {
    const body = await document(api);
    expect([body.openapi, body.servers]).toEqual(['3.1.0', [{ url: '/api' }]]);
    for (const { method, path, status } of everyRow) {
      const operation = body.paths[path]![method.toLowerCase()]!;
      expect(Object.keys(operation.responses)).toContain(String(status));
    }
    expect(body.paths['/openapi.json']!['get']).toBeDefined();
    expect((await document(compat, '/svc/api')).servers).toEqual([{ url: '/svc/api' }]);
  });

  test('has references that lead somewhere, and names that differ', async () => {
    const body = await document(api);
    const text = JSON.stringify(body);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target!);
    expect(references.length).toBeGreaterThan(20);
    for (const target of references) {
      expect(target).toMatch(/^#\/components\/schemas\//);
      expect(body.components.schemas).toHaveProperty(target.slice('#/components/schemas/'.length));
    }
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('says of bodies and parameters what the routes check', async () => {
    const body = await document(api);
    const create = body.components.schemas['GroupCreate']!;
    expect([create.required, create.additionalProperties]).toEqual([['name'], false]);
    const limit = body.paths['/queries']!['get']!.parameters!.find((parameter) => parameter.name === 'limit');
    expect(limit).toMatchObject({
      in: 'query',
      schema: { type: 'integer', minimum: 1, maximum: 1000 },
    });
    expect(limit).not.toHaveProperty('required', true);
    const [id] = body.paths['/groups/{id}']!['get']!.parameters!;
    expect(id).toMatchObject({ name: 'id', in: 'path', required: true, schema: { type: 'integer' } });
    expect(body.paths['/health']!['get']!.security).toEqual([]);
    expect(body.paths['/groups']!['post']!.security).toEqual([{ session: [] }, { apiKey: [] }]);
  });
});

describe('pages', () => {
  test.each(['/', '/docs'])('%s is HTML whose only style is the one its policy allows', async (path) => {
    const { status, headers, text } = await api.send('GET', path);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)![1]!;
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
    expect(text).not.toMatch(/<script|<link|<img|style=|https?:\/\/(?!127\.0\.0\.1:)/);
  });

  test('/docs names every route', async () => {
    const { text } = await compat.send('GET', '/docs');
    for (const { path, summary } of everyRow) {
      expect(text).toContain(`/svc/api${path}`);
      expect(text).toContain(summary.replaceAll("'", '&#39;'));
    }
  });

  test('/ says what to do next, under the name that it was asked for', async () => {
    const { text } = await api.send('GET', '/', { headers: { host: 'localhost:81' } });
    expect(text).toContain('weir set-password');
    expect(text).toContain('-p 5353');
    expect(text).toContain('http://localhost:81/api/auth/setup');
  });
});
