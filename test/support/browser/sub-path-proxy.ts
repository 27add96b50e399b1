/** A proxy that serves Weir below a path, as nginx does with `location /weir/ { proxy_pass http://weir/; }`. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** The proxy. */
export interface SubPathProxy {
  readonly origin: string;
  close(): Promise<void>;
}

/** The address that the proxy sends from, and the client that it names. */
interface NamedClient {
  readonly from: string;
  readonly client: string;
}

/**
 * Starts the proxy. It forwards requests below `path` to the port, without the path and with the original Host, and
 * responds with 404 to all other requests.
 */
export async function startSubPathProxy(
  path: string,
  port: number,
  named?: NamedClient,
): Promise<SubPathProxy> {
  const as = named === undefined ? {} : { localAddress: named.from };
  const added = named === undefined ? {} : { 'x-forwarded-for': named.client };
  const server = createServer((incoming, answer) => {
    const target = incoming.url ?? '';
    if (!target.startsWith(`${path}/`)) {
      answer.writeHead(404).end('not below the path');
      return;
    }
    const { method } = incoming;
    const headers = { ...incoming.headers, ...added };
    const options = { host: '127.0.0.1', port, method, path: target.slice(path.length), headers, ...as };
    const outgoing = request(options, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      pipeline(response, answer, () => undefined);
    });
    outgoing.on('error', () => answer.destroy());
    pipeline(incoming, outgoing, () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
