/** A web server for lists, with an answer for every way in which one can be bad. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a path is answered. */
export type ListAnswer = (request: IncomingMessage, response: ServerResponse) => void;

/** A running list server. */
export interface ListServer {
  /** The requests so far. */
  readonly requests: readonly IncomingMessage[];
  /** URL of a path. */
  url(path: string): string;
  /** Answers a path from now on. */
  serve(path: string, answer: ListAnswer | string): void;
  /** Forgets all answers and requests. */
  reset(): void;
  close(): Promise<void>;
}

/** Starts it on a loopback port, of the system's choice unless given; unknown paths are answered 404. */
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
