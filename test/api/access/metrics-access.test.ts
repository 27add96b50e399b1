/** Access to metrics: with a session, or for every client if the configuration allows it. */
import { describe, expect, test } from '@jest/globals';
import { type RunningApi } from '../../support/parts/running-api.ts';
import { everyRoute } from '../../support/parts/every-route.ts';
import { makeToken } from '../../support/parts/people.ts';
import { serveSuite } from '../../support/parts/served-suite.ts';

let api: RunningApi;
const serve = serveSuite(everyRoute(), (served) => (api = served.api), { toml: '', perTest: true });

describe('GET /metrics', () => {
  test('rejects anonymous clients, before and after the setup', async () => {
    expect((await api.send('GET', '/metrics')).problem).toMatchObject({
      status: 401,
      error: 'setup_required',
    });
    await api.setUp();
    const refused = await api.send('GET', '/metrics');
    expect(refused.status).toBe(401);
    expect(refused.text).not.toContain('weir_test');
    expect((await api.send('GET', '/metrics', { session: 'made up' })).status).toBe(401);
    expect((await api.send('HEAD', '/metrics')).status).toBe(401);
  });

  test('returns the metrics for a session', async () => {
    await api.setUp();
    const answer = await api.send('GET', '/metrics', { session: await api.logIn() });
    expect([answer.status, answer.text]).toEqual([200, 'weir_test 1\n']);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  test('returns the metrics for a token in X-Api-Key or Authorization: Bearer', async () => {
    await api.setUp();
    const { key } = await makeToken(api, await api.logIn(), { name: 'Prometheus', role: 'viewer' });
    const statuses = [];
    for (const headers of [
      { 'x-api-key': key },
      { authorization: `Bearer ${key}` },
      { authorization: `bearer  ${key}` },
      { authorization: 'Bearer made-up-key-of-20-characters' },
      { authorization: `Basic ${key}` },
      { authorization: key },
      { 'x-api-key': 'made-up-key-of-20-characters', authorization: `Bearer ${key}` },
    ])
      statuses.push((await api.send('GET', '/metrics', { headers })).status);
    expect(statuses).toEqual([200, 200, 200, 401, 401, 401, 401]);
    const refused = await api.send('GET', '/metrics');
    expect(refused.headers['www-authenticate']).toContain('Bearer realm="weir"');
  });

  test('accepts no other method', async () => {
    const answer = await api.send('POST', '/metrics');
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('is the only route that server.metrics_public makes available without authentication', async () => {
    await serve({ toml: 'server.metrics_public = true' });
    const answer = await api.send('GET', '/metrics');
    expect([answer.status, answer.text]).toEqual([200, 'weir_test 1\n']);
    expect((await api.send('GET', '/api/cache/metrics')).status).toBe(401);
    expect((await api.send('GET', '/metrics', { headers: { host: 'evil.example' } })).status).toBe(421);
  });
});
