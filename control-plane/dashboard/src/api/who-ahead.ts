/** Login state. To save a round trip, public/who.js requests it before the code of the page is loaded. */
import type { AnswerOf } from '../../../../shared/api/client/typed-client.ts';

declare global {
  interface Window {
    /** Resolves to null if the request failed. */
    __WHO__?: Promise<Response | null>;
  }
}

/** Returns that answer once; null if there is none or the request was refused. */
export async function whoAhead(): Promise<AnswerOf<'GET /auth/status'> | null> {
  const response = await window.__WHO__;
  delete window.__WHO__;
  return response?.ok === true ? ((await response.json()) as AnswerOf<'GET /auth/status'>) : null;
}
