import { beforeEach, describe, expect, test } from '@jest/globals';
import { Probe } from '../../../shared/api/probes-api.ts';
import { PROBE_TOKEN_LENGTH } from '../../../shared/dns/probe-zone.ts';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { type RunningApi, SteeredClock, type TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';

const clock = new SteeredClock();
let api: RunningApi;
serveSuite(everyRoute(), (served) => (api = served.api), { clock, toml: '' });
beforeEach(() => clock.advanceSecs(600));

/** Creates a probe as the page `/check` does, without a session. */
async function create(path = '/check/probes'): Promise<Probe> {
  const answer = await api.send('POST', path, { json: {} });
  expect(answer.status).toBe(201);
  return Probe.parse(answer.body);
}
const read = async (id: string, path = '/check/probes'): Promise<Probe> =>
  Probe.parse((await api.send('GET', `${path}/${id}`)).body);

describe('probes over HTTP', () => {
  test('have a name that cannot be guessed, and no queries at first', async () => {
    const probe = await create();
    expect(probe).toMatchObject({ node: 'node-a', asked: false, asked_at: null, client: null, queries: 0 });
    expect(probe.name).toMatch(/^[0-9a-f]{24}\.probe\.weir\.test$/);
    expect(probe.name).not.toContain(probe.id);
    expect(Date.parse(probe.expires_at) - Date.parse(probe.created_at)).toBe(300_000);
    expect(await read(probe.id)).toEqual(probe);
  });

  test('are created over the API only with a login, and not counted against the limit for visitors', async () => {
    for (const [method, path] of [
      ['POST', '/api/probes'],
      ['GET', '/api/probes/x'],
    ] as const)
      expect((await api.send(method, path)).status).toBe(401);
    await api.setUp();
    const session = await api.logIn();
    const sendIn = async (method: string, path: string): Promise<TestAnswer> =>
      api.send(method, path, { session, headers: { 'x-requested-with': 'test' } });
    // Creates more probes than clients without a session may create; one after another, because the number of
    // connections per address is limited.
    for (let count = 0; count < 61; count++) expect((await sendIn('POST', '/api/probes')).status).toBe(201);
    const probe = await create();
    expect((await sendIn('GET', `/api/probes/${probe.id}`)).body).toEqual(probe);
  });

  test('show only logged-in users the name of the client that queried them', async () => {
    await api.setUp();
    const session = await api.logIn();
    const json = { ip_address: '192.0.2.7', name: 'Phone' };
    expect((await api.send('POST', '/api/clients', { session, json })).status).toBe(201);
    const { id, name } = await create();
    const from = { client: '192.0.2.7', protocol: 'udp' } as const;
    const token = name.slice(0, PROBE_TOKEN_LENGTH);
    api.parts.probes.note({ token, askedMs: clock.nowMs(), ...from });
    const asked = { asked: true, ...from, askers: [{ ...from, queries: 1 }] };
    expect(await read(id)).toMatchObject({ ...asked, client_hostname: null });
    const reported = Probe.parse((await api.send('GET', `/api/probes/${id}`, { session })).body);
    expect(reported).toMatchObject({ ...asked, client_hostname: 'Phone' });
  });

  test('expire after five minutes, and can be read by their ID but not by their name', async () => {
    const { id, name } = await create();
    for (const other of [name, name.slice(0, 24), `${id}x`, id.slice(1), '%20', 'x'.repeat(64)])
      expect((await api.send('GET', `/check/probes/${other}`)).status).toBe(404);
    expect((await api.send('GET', `/check/probes/${'x'.repeat(65)}`)).status).toBe(400);
    clock.advanceSecs(299);
    expect((await read(id)).asked).toBe(false);
    clock.advanceSecs(1);
    expect((await api.send('GET', `/check/probes/${id}`)).status).toBe(404);
  });

  test('are limited for each network to a burst, and then to a rate', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 61 }, async () => (await api.send('POST', '/check/probes')).status),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(60);
    const refused = await api.send('POST', '/check/probes');
    expect([refused.status, refused.problem.error, refused.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '1',
    ]);
    clock.advanceSecs(1);
    const { id } = await create();
    expect((await read(id)).id).toBe(id);
    expect((await api.send('POST', '/check/probes')).status).toBe(429);
  });

  test('are not created for pages of other sites, whose requests are refused', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await api.send('POST', '/check/probes', { headers })).status).toBe(403);
    expect((await api.send('POST', '/check/probes', { json: { name: 'x' } })).status).toBe(400);
  });
});
