import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PhoneSetup } from '../../../shared/api/phones/phone-setup-api.ts';
import { logInAs, makeUser } from '../../../test/support/parts/people.ts';
import { RunningApi } from '../../../test/support/parts/running-api.ts';
import { openSuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { storeKeySightings } from '../../clients/keys/key-sighting-store.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import { makeSelfSigned } from '../tls/self-signed.ts';

const TOML = '[server.encrypted_dns]\ndot_enabled = true\ndoh_enabled = true\n';
const SECS_OF_LINK = 4500;

let suite: SuiteDatabase;
let api: RunningApi;
let session: string;
let pair: CertificatePair | null;

beforeAll(async () => {
  suite = await openSuiteDatabase();
});
afterAll(() => suite.close());
beforeEach(async () => {
  await suite.reset();
  const dnsCertificate = { current: () => pair };
  api = await RunningApi.start(suite.database, everyRoute(), { toml: TOML, dnsCertificate });
  pair = await makeSelfSigned(['dns.example.org', '*.dns.example.org'], api.clock.nowMs());
  await api.setUp();
  session = await api.logIn();
});
afterEach(() => api.close());

async function makeClient(json: object): Promise<number> {
  const { body } = await api.send('POST', '/api/clients', { session, json });
  return (body as { id: number }).id;
}

async function setup(id: number): Promise<PhoneSetup> {
  const answer = await api.send('GET', `/api/clients/${id}/phone-setup`, { session });
  expect(answer.headers['cache-control']).toBe('no-store');
  return PhoneSetup.parse(answer.body);
}

describe('GET /clients/{id}/phone-setup', () => {
  test('returns the names for the client key and a link to a profile', async () => {
    const id = await makeClient({ client_key: 'annas-phone', name: 'Anna' });
    expect(await setup(id)).toEqual({
      client_key: 'annas-phone',
      private_dns_name: 'annas-phone.dns.example.org',
      doh_url: 'https://dns.example.org/dns-query/annas-phone',
      problems: ['self_signed', 'key_not_random'],
      profile: {
        path: expect.stringMatching(/^\/check\/phone-profiles\/[\w-]{32}$/),
        protocols: ['https', 'tls'],
        is_signed: true,
        expires_at: expect.any(String),
      },
      first_seen: null,
      last_seen: null,
    });
  });

  test('shows since when queries with this key arrive, ignoring queries with an earlier key', async () => {
    const id = await makeClient({ client_key: 'annas-phone' });
    const [firstMs, lastMs] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)];
    await storeKeySightings(suite.database, [{ clientId: id, key: 'annas-phone', firstMs, lastMs }]);
    expect(await setup(id)).toMatchObject({
      first_seen: '2026-01-01T00:00:00.000Z',
      last_seen: '2026-01-02T00:00:00.000Z',
    });
    await api.send('PATCH', `/api/clients/${id}`, { session, json: { client_key: 'other' } });
    expect(await setup(id)).toMatchObject({ client_key: 'other', first_seen: null });
  });

  test('reports what is missing for the setup', async () => {
    pair = null;
    const id = await makeClient({ client_key: 'annas-phone' });
    expect(await setup(id)).toMatchObject({ problems: ['no_certificate'], profile: null, doh_url: null });
  });

  test('is 409 without a client key, 404 without a client, and for administrators only', async () => {
    const path = (id: number): string => `/api/clients/${id}/phone-setup`;
    const id = await makeClient({ ip_address: '192.0.2.7', name: 'Anna' });
    expect((await api.send('GET', path(id), { session })).status).toBe(409);
    expect((await api.send('GET', path(999_999), { session })).status).toBe(404);
    await makeUser(api, session, { username: 'vera', role: 'viewer' });
    const vera = await logInAs(api, 'vera');
    expect((await api.send('GET', path(id), { session: vera })).status).toBe(403);
  });
});

describe('GET /check/phone-profiles/{token}', () => {
  test('returns a signed profile without a session, for HTTPS or TLS', async () => {
    const { profile } = await setup(await makeClient({ client_key: 'annas-phone', name: 'Anna & Ben' }));
    const https = await api.send('GET', profile!.path);
    expect(https.status).toBe(200);
    expect(https.headers['content-type']).toBe('application/x-apple-aspen-config');
    // SignedData begins with its sequence; OpenSSL checks the signature in signed-message.test.ts.
    expect(https.text.startsWith('<?xml')).toBe(false);
    expect(https.text).toContain('https://dns.example.org/dns-query/annas-phone');
    expect(https.text).toContain('Weir: Anna &amp; Ben');
    const tls = await api.send('GET', `${profile!.path}?protocol=tls`);
    expect(tls.text).toContain('<string>annas-phone.dns.example.org</string>');
    expect((await api.send('GET', `${profile!.path}?protocol=quic`)).status).toBe(400);
  });

  test('is 404 once the link has expired, the key was changed, or the client deleted', async () => {
    const id = await makeClient({ client_key: 'annas-phone' });
    const read = async (path: string): Promise<number> => (await api.send('GET', path)).status;
    const first = (await setup(id)).profile!.path;
    expect(await read(first)).toBe(200);
    api.clock.advanceSecs(SECS_OF_LINK);
    expect(await read(first)).toBe(404);
    const second = (await setup(id)).profile!.path;
    await api.send('PATCH', `/api/clients/${id}`, { session, json: { client_key: 'other' } });
    expect(await read(second)).toBe(404);
    const third = (await setup(id)).profile!.path;
    await api.send('DELETE', `/api/clients/${id}`, { session });
    expect(await read(third)).toBe(404);
    expect(await read(`${third}A`)).toBe(404);
  });

  test('limits the requests of a network', async () => {
    const statuses = new Set<number>();
    for (let i = 0; i < 70; i++) statuses.add((await api.send('GET', '/check/phone-profiles/x')).status);
    expect([...statuses]).toEqual([404, 429]);
  });
});
