/** A web server for lists. Tests set the response for each path, including faulty ones. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Handler of the requests for a path. */
export type ListAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** A running list server. */
export interface ListServer {
  /** The requests so far. */
  readonly requests: readonly IncomingMessage[];
  /** URL of a path. */
  url(path: string): string;
  /** Sets the response for a path. */
  serve(path: string, answer: ListAnswer | string): void;
  /** Removes all responses and recorded requests. */
  reset(): void;
  close(): Promise<void>;
}

/** Starts the server on the given loopback port, or on a port that the system chooses. Unknown paths get 404. */
export async function startListServer(at = 0): Promise<ListServer> {
  const answers = new Map<string, ListAnswer>();
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const answer = answers.get(request.url ?? '');
    if (answer === undefined) response.writeHead(404).end('not here');
    else answer(request, response);
  });
  server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    url: (path) => `http://127.0.0.1:${String(port)}${path}`,
    serve: (path, answer) => answers.set(path, typeof answer === 'string' ? textAnswer(answer) : answer),
    reset: () => {
      answers.clear();
      requests.length = 0;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function textAnswer(text: string): ListAnswer {
  return (_request, response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end(text);
}
