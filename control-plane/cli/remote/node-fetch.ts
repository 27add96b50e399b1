/**
 * `fetch` over a Unix socket or the network, for the typed client. Redirects are not followed, because a token must not
 * be sent to another server.
 */
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import type { Fetch } from '../../../shared/api/client/typed-client.ts';
import { nodeHttp } from '../../../shared/lazy-builtins.ts';
import { codeOf, reasonOf } from '../../../shared/errors.ts';

/** Error: there was no response, so the outcome of the request is unknown. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Statuses of responses that must not have a body. */
const BODILESS: readonly number[] = [204, 205, 304];

/** Sends requests to `socketPath` or, if it is null, to the host in their URL. */
export function nodeFetch(socketPath: string | null): Fetch {
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const place = new URL(url);
      const send = place.protocol === 'https:' ? httpsRequest : nodeHttp().request;
      const request = send(place, {
        method,
        headers: headers as Record<string, string>,
        agent: false,
        ...(socketPath !== null && { socketPath }),
        ...(signal instanceof AbortSignal && { signal }),
      });
      request.once('error', (error) =>
        reject(new Unreachable(explain(error, socketPath ?? place.origin), { cause: error })),
      );
      request.once('response', (message) => {
        const { location } = message.headers;
        if (message.statusCode === 301 && location !== undefined)
          reject(new Unreachable(`${place.origin} redirects to ${location}; use that URL`));
        else resolve(responseOf(message));
      });
      request.end(typeof body === 'string' || body instanceof Uint8Array ? body : undefined);
    });
}

function responseOf(message: IncomingMessage): Response {
  const status = message.statusCode!;
  const headers = Object.entries(message.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const hasBody = !BODILESS.includes(status);
  return new Response(hasBody ? (Readable.toWeb(message) as ReadableStream) : null, { status, headers });
}

function explain(error: Error, where: string): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return `no server is running on the data directory: there is no ${where}`;
    case 'ECONNREFUSED':
      return `no server is listening on ${where}`;
    case 'EACCES':
    case 'EPERM':
      return `no permission to open ${where}; run the command as the user that runs Weir, or with --url and a token`;
    default:
      return `${where}: ${reasonOf(error)}`;
  }
}
