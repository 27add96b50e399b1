/**
 * Sends requests to the API with the page's cookie. If the session has ended, requests wait until the user has logged
 * in again.
 */
import { ApiFailure, TypedClient } from '../../../../shared/api/client/typed-client.ts';
import type { Answered, AnswerOf, Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import { takeAhead } from './ahead.ts';
import { noteLostRequest } from './lost-requests.ts';
import { API_BASE } from './place.ts';
import { signedIn } from './sign-in.ts';

const client = new TypedClient({
  baseUrl: API_BASE,
  fetch: async (url, request) => {
    try {
      return await fetch(url, { ...request, credentials: 'same-origin', cache: 'no-store' });
    } catch (error) {
      if (request.signal?.aborted !== true) noteLostRequest();
      throw error;
    }
  },
});

/** Operations whose 401 does not mean that the session has ended. */
const OPEN: readonly OperationName[] = [
  'POST /auth/login',
  'POST /auth/setup',
  'POST /auth/change-password',
  'POST /auth/second-factor',
  'POST /auth/second-factor/confirm',
  'POST /auth/second-factor/recovery-codes',
  'POST /auth/second-factor/disable',
];

/**
 * Returns the body and the header fields of the response. If a login is needed, waits for the login and sends the
 * request again. @throws {ApiFailure}
 */
export async function send<Name extends OperationName>(
  name: Name,
  ...given: Given<Name>
): Promise<Answered<Name>> {
  for (;;) {
    try {
      return await client.send(name, ...given);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.status !== 401 || OPEN.includes(name)) {
        if (error.problem !== null) await loadFaultTexts();
        throw error;
      }
      await signedIn();
    }
  }
}

/** Returns the body of the response. @throws {ApiFailure} */
export async function ask<Name extends OperationName>(
  name: Name,
  ...given: Given<Name>
): Promise<AnswerOf<Name>> {
  const ahead = await takeAhead(name, given[0] ?? {});
  return ahead === undefined ? (await send(name, ...given)).answer : (ahead as AnswerOf<Name>);
}

/** Returns the body of the response, without waiting for a login. @throws {ApiFailure} */
export async function askOnce<Name extends OperationName>(
  name: Name,
  ...given: Given<Name>
): Promise<AnswerOf<Name>> {
  return (await client.send(name, ...given)).answer;
}

/**
 * Loads the texts of failed requests on demand, so that this file, which sends the first requests, stays small. If the
 * texts cannot be loaded, messages are shown as the server wrote them.
 */
async function loadFaultTexts(): Promise<void> {
  const faults = await import('./faults/fault-texts.ts').catch(() => null);
  await faults?.loadFaultTexts();
}
