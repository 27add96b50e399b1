import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { RRClass, Rcode } from '../../shared/dns/iana.ts';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { Weir } from '../../test/support/weir/weir-process.ts';
import { SOCKET_NAME } from '../api/socket-name.ts';

/** Reads the health over the local socket, like the command line. */
async function healthAtSocket({ tempDir }: Weir): Promise<unknown> {
  const asked = request({ socketPath: join(tempDir.dataDir, SOCKET_NAME), path: '/api/health' }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return json(response);
}

describe('startWeir()', () => {
  test.each(['UDP', 'TCP'])(
    'ends with a clear message if its DNS port is in use over %s',
    async (transport) => {
      const dnsPort = await freePort(['127.0.0.1']);
      const udp = createSocket('udp4');
      const tcp = createServer();
      if (transport === 'UDP') await once(udp.bind(dnsPort, '127.0.0.1'), 'listening');
      else await once(tcp.listen(dnsPort, '127.0.0.1'), 'listening');
      await using weir = await Weir.launch({ dnsPort });
      expect(await weir.end()).toMatchObject({ code: 1 });
      expect(weir.output).toContain(
        `weir: could not listen on 127.0.0.1 ${transport} port ${String(dnsPort)}: it is used by another program`,
      );
      expect(weir.output).not.toMatch(/is running\.|\n +at /);
      udp.close();
      tcp.close();
    },
  );

  test('answers DNS while its web port is in use, reports that in its health, and listens when the port is free', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port: webPort } = holder.address() as { port: number };
    await using weir = await Weir.launch({ webPort, database: 'none' });
    await weir.untilOutput(/Warning: the web server is not listening/);
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    const reason = `could not listen for HTTP on 127.0.0.1:${String(webPort)}: port ${String(webPort)} is in use`;
    expect(await healthAtSocket(weir)).toMatchObject({
      ...{ status: 'degraded' },
      checks: { web: { status: 'down', detail: expect.stringContaining(reason) } },
    });
    holder.close();
    await weir.untilHealth(({ checks }) => checks.web.status === 'ok');
    // The message appears only once, although several attempts failed.
    expect(weir.output.match(/the web server is not listening; DNS works/g)).toHaveLength(1);
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test('refuses a data directory that another process uses, and does not disturb that process', async () => {
    await using first = await Weir.start();
    await using second = await Weir.launch({ tempDir: first.tempDir });
    expect(await second.end()).toMatchObject({ code: 1 });
    expect(second.output).toContain(
      `weir: data directory ${first.tempDir.dataDir} is in use by another Weir process (process ${String(first.pid)})`,
    );
    expect((await first.health()).body).toMatchObject({ checks: { database: { status: 'ok' } } });
    using udp = await UdpClient.open(first.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect(await first.stop()).toMatchObject({ code: 0 });
  });

  test('ends with a clear message if its data directory cannot be created', async () => {
    const dataDir = '/dev/null/data';
    await using weir = await Weir.launch({ database: 'none', env: { WEIR_SERVER_DATA_DIR: dataDir } });
    expect(await weir.end()).toMatchObject({ code: 1 });
    // If the test runs as root, Weir first prints a warning.
    expect(weir.output.split('\n').at(-2)).toBe(
      `weir: could not create data directory ${dataDir}: a part of the path is not a directory`,
    );
  });
});
