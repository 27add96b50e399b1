/** Users and tokens of a test: made over the API, and logged in. */
import { CreatedToken } from '../../../shared/api/tokens-api.ts';
import type { Role } from '../../../shared/api/auth-api.ts';
import { User } from '../../../shared/api/users-api.ts';
import { type RunningApi, sessionCookie, type TestAnswer } from './running-api.ts';

/** The password of every user. */
export const USER_PASSWORD = 'a password of a user';

/** Makes a user. */
export async function makeUser(
  api: RunningApi,
  session: string,
  user: { readonly username: string; readonly role?: Role; readonly enabled?: boolean },
): Promise<User> {
  const json = { password: USER_PASSWORD, ...user };
  const answer = await api.send('POST', `${api.prefix}/users`, { session, json });
  if (answer.status !== 201) throw new Error(`make a user: ${answer.status} ${answer.text}`);
  return User.parse(answer.body);
}

/** Makes a token; its key is in the result. */
export async function makeToken(
  api: RunningApi,
  session: string,
  token: { readonly name: string; readonly role?: Role },
): Promise<CreatedToken> {
  const answer = await api.send('POST', `${api.prefix}/api-tokens`, { session, json: token });
  if (answer.status !== 201) throw new Error(`make a token: ${answer.status} ${answer.text}`);
  return CreatedToken.parse(answer.body);
}

/** Logs a user in; the secret of the session. */
export async function logInAs(api: RunningApi, username: string, password = USER_PASSWORD): Promise<string> {
  const answer = await api.send('POST', `${api.prefix}/auth/login`, { json: { username, password } });
  const cookie = sessionCookie(answer);
  if (cookie === undefined) throw new Error(`log in: ${answer.status} ${answer.text}`);
  return cookie.secret;
}

/** A request with the key of a token. */
export function withKey(
  api: RunningApi,
  method: string,
  path: string,
  key: string,
  json?: unknown,
): Promise<TestAnswer> {
  return api.send(method, `${api.prefix}${path}`, {
    headers: { 'x-api-key': key },
    ...(json === undefined ? {} : { json }),
  });
}
