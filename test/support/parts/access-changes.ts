/** Requests that succeed on the routes of passwords, sessions, second factors, users, tokens and the certificate. */
import { makeSelfSigned } from '../../../control-plane/web/tls/self-signed.ts';
import { RecoveryCodes, SecondFactorSecret } from '../../../shared/api/auth-api.ts';
import { AuthenticatorApp } from './authenticator-app.ts';
import type { MutationFixture, Prepare } from './mutation-fixture.ts';
import { PASSWORD } from './running-api.ts';

const FACTOR = '/auth/second-factor';
const OWN = { password: PASSWORD };

/** Prepares a second factor of the administrator, without confirming it. */
async function prepareFactor(fixture: MutationFixture): Promise<AuthenticatorApp> {
  await fixture.signIn();
  for (;;) {
    const { secret } = SecondFactorSecret.parse(await fixture.make('POST', FACTOR, OWN));
    const app = new AuthenticatorApp(secret, fixture.clock);
    if (app.hasDistinctCodes) return app;
  }
}

/** Enables a second factor of the administrator. */
async function enableFactor(fixture: MutationFixture): Promise<{ app: AuthenticatorApp; codes: string[] }> {
  const app = await prepareFactor(fixture);
  const answer = await fixture.make('POST', `${FACTOR}/confirm`, { totp_code: app.code() });
  return { app, codes: RecoveryCodes.parse(answer).recovery_codes };
}

async function user(fixture: MutationFixture, serial: number): Promise<number> {
  const json = { username: `user${serial}`, password: 'a password of a user' };
  return Number((await fixture.make('POST', '/users', json))['id']);
}

async function token(fixture: MutationFixture, serial: number): Promise<number> {
  return Number((await fixture.make('POST', '/api-tokens', { name: `token ${serial}` }))['id']);
}

/** Changes by method and path. */
export const ACCESS_MUTATIONS: readonly [string, Prepare][] = [
  [
    'POST /auth/setup',
    async (fixture) => {
      await fixture.unset();
      return { path: '/auth/setup', json: OWN };
    },
  ],
  [
    'POST /auth/login',
    async (fixture) => {
      // Uses a recovery code, which is used up only if a session is created.
      const { codes } = await enableFactor(fixture);
      const json = { username: 'admin', ...OWN, recovery_code: codes[0] };
      return { path: '/auth/login', json };
    },
  ],
  ['POST /auth/logout', async (fixture) => ({ path: '/auth/logout', session: await fixture.signIn() })],
  [
    'POST /auth/change-password',
    async (fixture) => {
      const session = await fixture.signIn();
      const json = { current_password: PASSWORD, new_password: 'another password' };
      return { path: '/auth/change-password', session, json };
    },
  ],
  [
    'DELETE /auth/sessions/{id}',
    async (fixture) => {
      await fixture.signIn();
      const [newest] = (await fixture.make('GET', '/auth/sessions')) as unknown as { id: number }[];
      return { path: `/auth/sessions/${newest!.id}` };
    },
  ],
  [
    `POST ${FACTOR}`,
    async (fixture) => {
      await fixture.signIn();
      return { path: FACTOR, json: OWN };
    },
  ],
  [
    `POST ${FACTOR}/confirm`,
    async (fixture) => {
      const json = { totp_code: (await prepareFactor(fixture)).code() };
      return { path: `${FACTOR}/confirm`, json };
    },
  ],
  [
    `POST ${FACTOR}/recovery-codes`,
    async (fixture) => {
      const json = { totp_code: (await enableFactor(fixture)).app.code(1) };
      return { path: `${FACTOR}/recovery-codes`, json };
    },
  ],
  [
    `POST ${FACTOR}/disable`,
    async (fixture) => {
      const json = { totp_code: (await enableFactor(fixture)).app.code(1) };
      return { path: `${FACTOR}/disable`, json };
    },
  ],
  [
    'POST /users',
    async (_room, n) => ({ path: '/users', json: { username: `new${n}`, password: 'a password' } }),
  ],
  [
    'PATCH /users/{id}',
    async (fixture, n) => {
      const json = { role: 'admin', password: 'another password' };
      return { path: `/users/${await user(fixture, n)}`, json };
    },
  ],
  ['DELETE /users/{id}', async (fixture, n) => ({ path: `/users/${await user(fixture, n)}` })],
  [
    'DELETE /users/{id}/second-factor',
    async (fixture, n) => {
      const id = await user(fixture, n);
      await fixture.giveFactor(id);
      return { path: `/users/${id}/second-factor` };
    },
  ],
  ['POST /api-tokens', async (_room, n) => ({ path: '/api-tokens', json: { name: `token ${n}` } })],
  [
    'PUT /api-tokens/{id}',
    async (fixture, n) => {
      const json = { name: 'another', role: 'viewer', key: `imported-key-0123456789-${n}` };
      return { path: `/api-tokens/${await token(fixture, n)}`, json };
    },
  ],
  ['DELETE /api-tokens/{id}', async (fixture, n) => ({ path: `/api-tokens/${await token(fixture, n)}` })],
  [
    'POST /tls/upload',
    async ({ clock }) => {
      const { cert, key } = await makeSelfSigned(['uploaded'], clock.nowMs());
      const part = (name: string, text: string): string =>
        `--x\r\nContent-Disposition: form-data; name="${name}"; filename="a.pem"\r\n\r\n${text}\r\n`;
      const raw = `${part('cert', cert)}${part('key', key)}--x--\r\n`;
      return { path: '/tls/upload', raw, headers: { 'content-type': 'multipart/form-data; boundary=x' } };
    },
  ],
  [
    'POST /tls/acme',
    async ({ make }) => {
      await make('PATCH', '/config', { server: { acme: { names: ['weir.example.org'] } } });
      return { path: '/tls/acme' };
    },
  ],
  ['POST /tls/generate', async () => ({ path: '/tls/generate?force=true' })],
];
