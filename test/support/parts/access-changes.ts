/** Requests that succeed on the routes of passwords, sessions, second factors, users, tokens and the certificate. */
import { makeSelfSigned } from '../../../control-plane/web/tls/self-signed.ts';
import { RecoveryCodes, SecondFactorSecret } from '../../../shared/api/auth-api.ts';
import { AuthenticatorApp } from './authenticator-app.ts';
import type { MutationRoom, Prepare } from './mutation-room.ts';
import { PASSWORD } from './running-api.ts';

const FACTOR = '/auth/second-factor';
const OWN = { password: PASSWORD };

/** A second factor of the administrator that is not confirmed yet. */
async function prepareFactor(room: MutationRoom): Promise<AuthenticatorApp> {
  await room.signIn();
  for (;;) {
    const { secret } = SecondFactorSecret.parse(await room.make('POST', FACTOR, OWN));
    const app = new AuthenticatorApp(secret, room.clock);
    if (app.hasDistinctCodes) return app;
  }
}

/** An enabled second factor of the administrator. */
async function enableFactor(room: MutationRoom): Promise<{ app: AuthenticatorApp; codes: string[] }> {
  const app = await prepareFactor(room);
  const answer = await room.make('POST', `${FACTOR}/confirm`, { totp_code: app.code() });
  return { app, codes: RecoveryCodes.parse(answer).recovery_codes };
}

async function user(room: MutationRoom, serial: number): Promise<number> {
  const json = { username: `user${serial}`, password: 'a password of a user' };
  return Number((await room.make('POST', '/users', json))['id']);
}

async function token(room: MutationRoom, serial: number): Promise<number> {
  return Number((await room.make('POST', '/api-tokens', { name: `token ${serial}` }))['id']);
}

/** Changes by method and path. */
export const ACCESS_MUTATIONS: readonly [string, Prepare][] = [
  [
    'POST /auth/setup',
    async (room) => {
      await room.unset();
      return { path: '/auth/setup', json: OWN };
    },
  ],
  [
    'POST /auth/login',
    async (room) => {
      // Uses a recovery code, which is consumed only if a session is created.
      const { codes } = await enableFactor(room);
      const json = { username: 'admin', ...OWN, recovery_code: codes[0] };
      return { path: '/auth/login', json };
    },
  ],
  ['POST /auth/logout', async (room) => ({ path: '/auth/logout', session: await room.signIn() })],
  [
    'POST /auth/change-password',
    async (room) => {
      const session = await room.signIn();
      const json = { current_password: PASSWORD, new_password: 'another password' };
      return { path: '/auth/change-password', session, json };
    },
  ],
  [
    'DELETE /auth/sessions/{id}',
    async (room) => {
      await room.signIn();
      const [newest] = (await room.make('GET', '/auth/sessions')) as unknown as { id: number }[];
      return { path: `/auth/sessions/${newest!.id}` };
    },
  ],
  [
    `POST ${FACTOR}`,
    async (room) => {
      await room.signIn();
      return { path: FACTOR, json: OWN };
    },
  ],
  [
    `POST ${FACTOR}/confirm`,
    async (room) => {
      const json = { totp_code: (await prepareFactor(room)).code() };
      return { path: `${FACTOR}/confirm`, json };
    },
  ],
  [
    `POST ${FACTOR}/recovery-codes`,
    async (room) => {
      const json = { totp_code: (await enableFactor(room)).app.code(1) };
      return { path: `${FACTOR}/recovery-codes`, json };
    },
  ],
  [
    `POST ${FACTOR}/disable`,
    async (room) => {
      const json = { totp_code: (await enableFactor(room)).app.code(1) };
      return { path: `${FACTOR}/disable`, json };
    },
  ],
  [
    'POST /users',
    async (_room, n) => ({ path: '/users', json: { username: `new${n}`, password: 'a password' } }),
  ],
  [
    'PATCH /users/{id}',
    async (room, n) => {
      const json = { role: 'admin', password: 'another password' };
      return { path: `/users/${await user(room, n)}`, json };
    },
  ],
  ['DELETE /users/{id}', async (room, n) => ({ path: `/users/${await user(room, n)}` })],
  [
    'DELETE /users/{id}/second-factor',
    async (room, n) => {
      const id = await user(room, n);
      await room.giveFactor(id);
      return { path: `/users/${id}/second-factor` };
    },
  ],
  ['POST /api-tokens', async (_room, n) => ({ path: '/api-tokens', json: { name: `token ${n}` } })],
  [
    'PUT /api-tokens/{id}',
    async (room, n) => {
      const json = { name: 'another', role: 'viewer', key: `imported-key-0123456789-${n}` };
      return { path: `/api-tokens/${await token(room, n)}`, json };
    },
  ],
  ['DELETE /api-tokens/{id}', async (room, n) => ({ path: `/api-tokens/${await token(room, n)}` })],
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
  ['POST /tls/generate', async () => ({ path: '/tls/generate?force=true' })],
];
