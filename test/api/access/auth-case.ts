/** Parts of the cases of `auth-rules.test.ts`: the API that they share, and short forms of requests. */
import { expect } from '@jest/globals';
import { AuthSuite } from '../../support/parts/auth-suite.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';

/** The API of the suite; importing it registers its hooks. */
export const node = new AuthSuite();
export const HOUR_SECS = 3600;
export const DAY_SECS = 24 * HOUR_SECS;

/** Claim about authentication, and its proof. */
export interface AuthCase {
  /** Number of the rule in the specification, or the key. */
  readonly rule: string;
  readonly what: string;
  readonly run: () => Promise<void>;
}

/** A request that needs a caller. */
export const get = (headers: Record<string, string> = {}): Promise<TestAnswer> =>
  node.api.send('GET', '/api/groups', { headers });
/** A request with a body. */
export const post = (path: string, json: object, session?: string): Promise<TestAnswer> =>
  node.api.send('POST', `/api${path}`, session === undefined ? { json } : { json, session });
/** Status and error. */
export const outcome = ({ status, problem }: TestAnswer): unknown => [status, problem.error];

/** Session of the administrator, after a setup. */
export async function signedIn(): Promise<string> {
  await node.api.setUp();
  return node.api.logIn();
}

/** Statuses of wrong passwords. */
export async function failures(count: number): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < count; n++) statuses.push((await node.logIn('wrong password')).status);
  return statuses;
}

/** A session ends after this time, and not a second before. */
export async function expectLife(secs: number, rememberMe: boolean): Promise<void> {
  await node.api.setUp();
  const session = await node.api.logIn({ remember_me: rememberMe });
  node.api.clock.advanceSecs(secs - 1);
  expect(await node.isIn(session)).toBe(true);
  node.api.clock.advanceSecs(1);
  expect(await node.isIn(session)).toBe(false);
}
