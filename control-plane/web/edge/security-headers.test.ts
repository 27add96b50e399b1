import { afterEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { contentPolicy, securityHeaders } from './security-headers.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
});

/** The header fields of a response to a request over this protocol. */
async function fieldsOf(isHttps: boolean, protocol: 'http' | 'https'): Promise<Headers> {
  const app = express();
  app.set('trust proxy', true);
  app.use(securityHeaders({ isHttps }));
  app.get('/', (_request, response) => void response.send('x'));
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const headers = { 'x-forwarded-proto': protocol, connection: 'close' };
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers });
  await answer.text();
  return answer.headers;
}

describe('securityHeaders()', () => {
  test('returns the same header fields as the npm package helmet, with the strictest values', async () => {
    const fields = await fieldsOf(false, 'https');
    expect(Object.fromEntries(fields)).toMatchObject({
      'content-security-policy': contentPolicy(),
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-dns-prefetch-control': 'off',
      'x-download-options': 'noopen',
      'x-frame-options': 'DENY',
      'x-permitted-cross-domain-policies': 'none',
      'x-xss-protection': '0',
      'cache-control': 'no-store',
    });
    expect(fields.get('permissions-policy')).toMatch(/camera=\(\), .*geolocation=\(\), .*microphone=\(\)/);
    expect(fields.has('x-powered-by')).toBe(false);
  });

  test('omits header fields over plain HTTP that browsers only accept over TLS', async () => {
    const fields = await fieldsOf(true, 'http');
    expect([fields.get('cross-origin-opener-policy'), fields.get('origin-agent-cluster')]).toEqual([
      null,
      null,
    ]);
    expect(fields.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  test.each([
    [true, 'https', 'max-age=15552000'],
    [true, 'http', null],
    [false, 'https', null],
    [false, 'http', null],
  ] as const)(
    'contains HSTS only over TLS: HTTPS %s, requested over %s',
    async (isHttps, protocol, value) => {
      expect((await fieldsOf(isHttps, protocol)).get('strict-transport-security')).toBe(value);
    },
  );
});

describe('contentPolicy(), the Content-Security-Policy,', () => {
  test('allows nothing by default, and only the given sources', () => {
    expect(contentPolicy()).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(contentPolicy({ 'style-src': ["'self'", "'sha256-x'"], 'form-action': ["'self'"] })).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'; style-src 'self' 'sha256-x'",
    );
  });
});
