/** Users and tokens of a test, created through the API and logged in. */
import { CreatedToken } from '../../../shared/api/tokens-api.ts';
import type { Role } from '../../../shared/api/auth-api.ts';
import { type User, UserList } from '../../../shared/api/users-api.ts';
import { type RunningApi, sessionCookie, type TestAnswer } from './running-api.ts';

/** The password of every user. */
export const USER_PASSWORD = 'a password of a user';
/** Hash of that password, at a cost of 0.2 ms instead of 130. */
const USER_PASSWORD_HASH =
  '$argon2id$v=19$m=64,p=1,t=1$KiAlsKtAkbfc4Mgtc6FYUA$uSpdX/sJZu+WD3uX/W8wD/uiAf9owoHt8WJZinAJgjM';

/** Creates a user as `POST /users` does, but without hashing a password. */
export async function makeUser(
  api: RunningApi,
  session: string,
  { username, role = 'viewer' }: { readonly username: string; readonly role?: Role },
): Promise<User> {
  await api.parts.database.query('INSERT INTO users (username, role, password_hash) VALUES ($1, $2, $3)', [
    username,
    role,
    USER_PASSWORD_HASH,
  ]);
  const { body } = await api.send('GET', `${api.prefix}/users`, { session });
  return UserList.parse(body).find((user) => user.username === username)!;
}

/** Creates a token; the result contains its key. */
export async function makeToken(
  api: RunningApi,
  session: string,
  token: { readonly name: string; readonly role?: Role },
): Promise<CreatedToken> {
  const answer = await api.send('POST', `${api.prefix}/api-tokens`, { session, json: token });
  if (answer.status !== 201) throw new Error(`create a token: ${answer.status} ${answer.text}`);
  return CreatedToken.parse(answer.body);
}

/** Logs a user in; returns the secret of the session. */
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
