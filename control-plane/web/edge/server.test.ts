import { describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Express } from 'express';
import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { within } from '../../../test/support/parts/until.ts';
import { startWebServer, WebServerError } from './server.ts';
import type { WebServer } from './server.ts';

function application(): Express {
  const app = express();
  app.get('/', (_request, response) => void response.send('served'));
  return app;
}

async function start(
  bindAddresses: readonly string[],
  options: { port?: number; app?: Express; logger?: MemoryLogger } = {},
): Promise<WebServer> {
  const config = testConfig();
  const server = { ...config.server, web_port: options.port ?? 0, bind_address: bindAddresses };
  const { app = application(), logger = new MemoryLogger() } = options;
  return startWebServer(app, { ...config, server }, logger);
}

describe('startWebServer()', () => {
  test('reports a port that another program already uses, and listens on no address', async () => {
    const holder = createServer().listen(0, '127.0.0.2');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const error: unknown = await start(['127.0.0.1', '127.0.0.2'], { port }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(WebServerError);
    expect(error).toMatchObject({ address: '127.0.0.2', port, code: 'EADDRINUSE' });
    expect((error as Error).message).toBe(
      `could not listen for HTTP on 127.0.0.2:${port}: port ${port} is in use by another program; stop that program or choose another server.web_port`,
    );
    const free = createServer().listen(port, '127.0.0.1');
    await once(free, 'listening');
    free.close();
    holder.close();
  });

  test('reports an address that this machine does not have', async () => {
    const error: unknown = await start(['192.0.2.1']).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ address: '192.0.2.1', port: 0, code: 'EADDRNOTAVAIL' });
    expect((error as Error).message).toContain(
      'this machine does not have that address; see server.bind_address',
    );
  });

  test('listens on every bind address, and stops listening on all', async () => {
    const logger = new MemoryLogger();
    const running = await start(['127.0.0.1', '127.0.0.3'], { logger });
    expect(running.endpoints.map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.3']);
    for (const { address, port } of running.endpoints) {
      expect(logger.text()).toContain(JSON.stringify({ address, port }));
      expect(await (await fetch(`http://${address}:${port}/`)).text()).toBe('served');
    }
    await running.close();
    for (const { address, port } of running.endpoints)
      await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow();
  });

  test('listens on the IPv4 and IPv6 wildcard with the same port if there is IPv6', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    await new Promise((resolve) => holder.close(resolve));
    const logger = new MemoryLogger();
    const running = await start(['0.0.0.0', '::'], { port, logger });
    // A machine without IPv6 logs that it listens on one address only.
    const skipped = logger.lines.filter(({ message }) => message.includes('no IPv6')).length;
    expect(running.endpoints).toHaveLength(2 - skipped);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('served');
    await running.close();
  });
});

describe('close() of the web server', () => {
  test('waits for a response that is being prepared', async () => {
    const asked = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    const app = express();
    app.get('/', async (_request, response) => {
      asked.resolve(undefined);
      await release.promise;
      response.send('late but whole');
    });
    const running = await start(['127.0.0.1'], { app });
    const request = get({ host: '127.0.0.1', port: running.endpoints[0]!.port, agent: false });
    const answered = once(request, 'response');
    await within('the request', asked.promise);
    const closing = running.close();
    release.resolve(undefined);
    const [response] = (await within('the answer', answered)) as [IncomingMessage];
    expect(await text(response)).toBe('late but whole');
    await closing;
  });

  test('disconnects clients that delay the end of the server', async () => {
    const running = await start(['127.0.0.1']);
    const socket = connect(running.endpoints[0]!.port, '127.0.0.1');
    await within('the connection', once(socket, 'connect'));
    socket.write('GET / HTTP/1.1\r\nX-Slow: ');
    const ended = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    socket.resume();
    await within('the server and its connection to close', Promise.all([running.close(), ended]));
  });
});
