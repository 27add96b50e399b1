import { afterEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Request, Response } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { within } from '../../test/support/parts/until.ts';
import { ChangePasswordBody } from '../../shared/api/auth-api.ts';
import { IdParams, Page } from '../../shared/api/fields.ts';
import type { Problem } from '../../shared/api/problem-details.ts';
import { OpenApiAnswer } from '../../shared/api/zod.ts';
import { DatabaseUnavailable } from '../storage/db/database-errors.ts';
import type { Caller } from './caller.ts';
import { problemHandler } from './problem.ts';
import { DEFAULT_BODY_LIMIT_BYTES } from './request-body.ts';
import { authorOf, route } from './route.ts';
import type { Route } from './route.ts';

const COMMON = { access: 'admin', tag: 'Things', summary: 'Of a thing' } as const;
const CALLER: Caller = {
  username: 'admin',
  role: 'admin',
  userId: 1,
  tokenId: null,
  sessionId: null,
  clientIds: null,
};

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0))
    await within('a server to close', new Promise((resolve) => server.close(resolve)));
});

/** Serves one route over real HTTP; returns its URL. */
async function serve(row: Route, logger = new MemoryLogger()): Promise<string> {
  const app = express();
  app.set('query parser', false);
  app.all(row.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (request, response) => {
    const answer = await row.run(request, response, CALLER);
    response.status(row.status).json(answer ?? null);
  });
  app.use(problemHandler(logger));
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends a request; returns the status, and the code and invalid fields of a problem. */
async function ask(
  url: string,
  method = 'GET',
  body?: unknown,
): Promise<{ status: number; body: unknown; error: string | undefined; fields: string[] }> {
  const headers = { connection: 'close', 'content-type': 'application/json' };
  const response = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Partial<Problem> | null;
  const fields = answer?.errors?.map(({ path }) => path) ?? [];
  return { status: response.status, body: answer, error: answer?.error, fields };
}

describe('route()', () => {
  test('fills in the optional fields of a route', () => {
    const bare = route({ ...COMMON, method: 'GET', path: '/things', handle: () => undefined });
    expect(bare).toMatchObject({ status: 204, alsoStatuses: {}, errors: {} });
    expect(bare.bodyLimitBytes).toBe(DEFAULT_BODY_LIMIT_BYTES);
    const handle = (): { openapi: '3.1.0' } => ({ openapi: '3.1.0' });
    const answering = route({ ...COMMON, method: 'GET', path: '/things', answer: OpenApiAnswer, handle });
    expect(answering.status).toBe(200);
    const made = route({ ...COMMON, method: 'POST', path: '/things', status: 201, handle: () => undefined });
    expect(made.status).toBe(201);
  });
});

describe('run()', () => {
  const row = route({
    ...COMMON,
    method: 'PUT',
    path: '/things/{id}',
    params: IdParams,
    query: Page,
    body: ChangePasswordBody,
    answer: OpenApiAnswer,
    handle: ({ params, query, body, caller }) => ({ openapi: '3.1.0' as const, params, query, body, caller }),
  });
  const passwords = { current_password: 'the old one', new_password: 'the new one' };

  test('passes the validated input and the caller to the handler', async () => {
    const url = await serve(row);
    const answer = await ask(`${url}/things/7?limit=5`, 'PUT', passwords);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ params: { id: 7 }, query: { limit: 5 }, body: passwords });
    expect(answer.body).toMatchObject({ caller: CALLER });
  });

  test('validates the path parameters first, then the query string, then the body', async () => {
    const url = await serve(row);
    const seen = async (path: string, body: unknown): Promise<unknown> => {
      const { status, error, fields } = await ask(url + path, 'PUT', body);
      return [status, error, fields];
    };
    expect(await seen('/things/x?odd=1', {})).toEqual([400, 'invalid', ['id']]);
    expect(await seen('/things/7?odd=1', {})).toEqual([400, 'invalid', ['odd']]);
    expect(await seen('/things/7', {})).toEqual([400, 'invalid', ['current_password', 'new_password']]);
  });

  test('treats an ID above the maximum of its database column as an ID that does not exist', async () => {
    const url = await serve(row);
    for (const id of ['0', '2147483648'])
      expect(await ask(`${url}/things/${id}`, 'PUT', passwords)).toMatchObject({
        status: 404,
        error: 'not_found',
      });
    expect(await ask(`${url}/things/2147483647`, 'PUT', passwords)).toMatchObject({ status: 200 });
  });

  test('refuses parameters and fields that the route does not declare', async () => {
    const bare = route({ ...COMMON, method: 'POST', path: '/things', handle: () => undefined });
    const url = await serve(bare);
    expect((await ask(`${url}/things?odd=1`, 'POST')).fields).toEqual(['odd']);
    expect((await ask(`${url}/things`, 'POST', { odd: 1 })).fields).toEqual(['odd']);
  });

  test('accepts an empty body and {} for a route without a body', async () => {
    const bare = route({
      ...COMMON,
      method: 'POST',
      path: '/things',
      answer: OpenApiAnswer,
      handle: ({ body }) => ({ openapi: '3.1.0' as const, body }),
    });
    const url = await serve(bare);
    expect(await ask(`${url}/things`, 'POST')).toMatchObject({ status: 200, body: { body: {} } });
    expect(await ask(`${url}/things`, 'POST', {})).toMatchObject({ status: 200, body: { body: {} } });
  });

  test('reads no more bytes of a body than the route allows', async () => {
    const small = route({
      ...COMMON,
      method: 'POST',
      path: '/things',
      body: ChangePasswordBody,
      bodyLimitBytes: 10,
      handle: () => undefined,
    });
    const url = await serve(small);
    expect(await ask(`${url}/things`, 'POST', passwords)).toMatchObject({ status: 413, error: 'too_large' });
  });
});

describe('problemHandler()', () => {
  test('logs the causes of a 503 without stack traces', async () => {
    const logger = new MemoryLogger();
    const failing = route({
      ...COMMON,
      method: 'GET',
      path: '/things',
      handle: () => {
        throw new DatabaseUnavailable('database was lost', { cause: new Error('ECONNRESET') });
      },
    });
    const url = await serve(failing, logger);
    expect((await ask(`${url}/things`)).status).toBe(503);
    expect(logger.lines.map(({ fields }) => fields['error'])).toEqual(['database was lost <- ECONNRESET']);
  });
});

describe('authorOf()', () => {
  test('returns the name of the caller or "anonymous", and the address of the caller', () => {
    const http = { ip: '::ffff:192.0.2.7' } as unknown as Request;
    const response = {} as unknown as Response;
    const author = (caller: Caller | null): unknown => authorOf({ caller, http, response });
    expect(author(CALLER)).toMatchObject({ name: 'admin', address: '192.0.2.7' });
    expect(author(null)).toMatchObject({ name: 'anonymous', address: '192.0.2.7' });
  });
});
