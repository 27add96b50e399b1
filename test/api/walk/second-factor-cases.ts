/**
 * Requests that reach each success and refusal of the second factor. They use separate users, so that the session of
 * the walk stays valid.
 */
import { SecondFactorSecret } from '../../../shared/api/auth-api.ts';
import { AuthenticatorApp } from '../../support/parts/authenticator-app.ts';
import { logInAs, makeToken, makeUser, USER_PASSWORD } from '../../support/parts/people.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import type { Provoke, WalkedApi } from './walked-api.ts';

const PREPARE = 'POST /auth/second-factor';
const CONFIRM = 'POST /auth/second-factor/confirm';
const RENEW = 'POST /auth/second-factor/recovery-codes';
const DISABLE = 'POST /auth/second-factor/disable';
const REMOVE = 'DELETE /users/{id}/second-factor';

const OWN = { password: USER_PASSWORD };

interface Person {
  readonly id: number;
  readonly session: string;
}

let people = 0;

async function person(walk: WalkedApi): Promise<Person> {
  const username = `walker-${++people}`;
  const { id } = await makeUser(walk.api, walk.session, { username });
  return { id, session: await logInAs(walk.api, username) };
}

/** A user with a secret, and an app that generates its codes. */
async function prepared(walk: WalkedApi): Promise<Person & { readonly app: AuthenticatorApp }> {
  const who = await person(walk);
  const { body } = await walk.ask(PREPARE, { session: who.session, json: OWN });
  return { ...who, app: new AuthenticatorApp(SecondFactorSecret.parse(body).secret, walk.api.clock) };
}

const confirm = (
  walk: WalkedApi,
  { session, app }: Awaited<ReturnType<typeof prepared>>,
): Promise<TestAnswer> => walk.ask(CONFIRM, { session, json: { totp_code: app.code() } });

async function enabled(walk: WalkedApi): Promise<Person> {
  const who = await prepared(walk);
  await confirm(walk, who);
  return who;
}

const ask =
  (name: string, make: (walk: WalkedApi) => Promise<Person>, json: object = OWN): Provoke =>
  async (walk) =>
    walk.ask(name, { session: (await make(walk)).session, json });

/** Sends the request repeatedly from a separate address, until the lockout refuses it. */
const guess =
  <T extends Person>(
    name: string,
    make: (walk: WalkedApi) => Promise<T>,
    proofOf: (who: T) => object,
    address: string,
  ): Provoke =>
  async (walk) => {
    const who = await make(walk);
    const { session } = who;
    const json = proofOf(who);
    let answer: TestAnswer;
    let tries = 0;
    do answer = await walk.ask(name, { session, json, headers: { 'x-forwarded-for': address } });
    while (answer.status === 401 && ++tries < 10);
    return answer;
  };

/** Requests that succeed, by operation. */
export const SECOND_FACTOR_SUCCESSES: Readonly<Record<string, Provoke>> = {
  [PREPARE]: ask(PREPARE, person),
  [CONFIRM]: async (walk) => confirm(walk, await prepared(walk)),
  [RENEW]: ask(RENEW, enabled),
  [DISABLE]: ask(DISABLE, enabled),
  [REMOVE]: async (walk) => walk.ask(REMOVE, { params: { id: (await enabled(walk)).id } }),
};

const wrong = (): object => ({ password: 'wrong password' });

/** Requests that are refused, by operation and status. */
export const SECOND_FACTOR_REFUSALS: Readonly<Record<string, Provoke>> = {
  'GET /auth/second-factor 403': async (walk) => {
    const { key } = await makeToken(walk.api, walk.session, { name: 'no person' });
    return walk.ask('GET /auth/second-factor', { session: '', headers: { 'x-api-key': key } });
  },
  [`${PREPARE} 409`]: ask(PREPARE, enabled),
  [`${CONFIRM} 409`]: ask(CONFIRM, person, { totp_code: '123456' }),
  [`${RENEW} 409`]: ask(RENEW, person),
  [`${DISABLE} 409`]: ask(DISABLE, person),
  [`${PREPARE} 429`]: guess(PREPARE, person, wrong, '192.0.2.70'),
  [`${CONFIRM} 429`]: guess(CONFIRM, prepared, ({ app }) => ({ totp_code: app.wrongCode() }), '192.0.2.71'),
  [`${RENEW} 429`]: guess(RENEW, enabled, wrong, '192.0.2.72'),
  [`${DISABLE} 429`]: guess(DISABLE, enabled, wrong, '192.0.2.73'),
};
