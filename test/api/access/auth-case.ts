/** Helpers for the cases of `auth-rules.test.ts`: the API that they share, and shortcuts for requests. */
import { expect } from '@jest/globals';
import { AuthSuite } from '../../support/parts/auth-suite.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';

/** The API of the suite; importing this file registers the suite's hooks. */
export const node = new AuthSuite();
export const HOUR_SECS = 3600;
export const DAY_SECS = 24 * HOUR_SECS;

/** A rule of authentication, and its test. */
export interface AuthCase {
  /** Number of the rule in the specification, or name of the key. */
  readonly rule: string;
  readonly what: string;
  readonly run: () => Promise<void>;
}

/** A request with credentials. */
export const get = (headers: Record<string, string> = {}): Promise<TestAnswer> =>
  node.api.send('GET', '/api/groups', { headers });
/** A request with a body. */
export const post = (path: string, json: object, session?: string): Promise<TestAnswer> =>
  node.api.send('POST', `/api${path}`, session === undefined ? { json } : { json, session });
/** Status and error of a response. */
export const outcome = ({ status, problem }: TestAnswer): unknown => [status, problem.error];

/** Session of the administrator after a setup. */
export async function signedIn(): Promise<string> {
  await node.api.setUp();
  return node.api.logIn();
}

/** Statuses of logins with a wrong password. */
export async function failures(count: number): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < count; n++) statuses.push((await node.logIn('wrong password')).status);
  return statuses;
}

/** Expects that a session expires after this time, and not a second earlier. */
export async function expectLife(secs: number, rememberMe: boolean): Promise<void> {
  await node.api.setUp();
  const session = await node.api.logIn({ remember_me: rememberMe });
  node.api.clock.advanceSecs(secs - 1);
  expect(await node.isIn(session)).toBe(true);
  node.api.clock.advanceSecs(1);
  expect(await node.isIn(session)).toBe(false);
}
