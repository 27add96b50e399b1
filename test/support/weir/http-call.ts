/** One HTTP request on a separate connection, so that no request uses an idle connection that the server is closing. */
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Response to a request. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const TIMEOUT_MS = 100_000;

/** Sends the request; a body is sent as JSON. */
export function httpCall(method: string, url: string, body?: object, cookie = ''): Promise<HttpAnswer> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(cookie === '' ? {} : { cookie }),
    ...(content === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false, timeout: TIMEOUT_MS }, (response) => {
      text(response).then((received) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: received });
      }, reject);
    });
    outgoing.on('timeout', () =>
      outgoing.destroy(new Error(`${method} ${url}: no answer in ${String(TIMEOUT_MS)} ms`)),
    );
    outgoing.on('error', reject);
    outgoing.end(content);
  });
}

/** Yields the lines of a response as they arrive. */
export async function* readLines(url: string, cookie: string): AsyncGenerator<string> {
  const response = await fetch(url, { headers: { cookie } });
  if (response.status !== 200 || response.body === null)
    throw new Error(`GET ${url}: status ${String(response.status)}`);
  yield* createInterface({ input: Readable.fromWeb(response.body) });
}
