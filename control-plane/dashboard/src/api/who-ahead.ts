/** The login state, which public/who.js requests before the code of the page is loaded, to save a round trip. */
import type { AnswerOf } from '../../../../shared/api/client/typed-client.ts';

declare global {
  interface Window {
    /** Null if no answer came. */
    __WHO__?: Promise<Response | null>;
  }
}

/** Returns that answer once; null if there is none or it was refused. */
export async function whoAhead(): Promise<AnswerOf<'GET /auth/status'> | null> {
  const response = await window.__WHO__;
  delete window.__WHO__;
  return response?.ok === true ? ((await response.json()) as AnswerOf<'GET /auth/status'>) : null;
}
