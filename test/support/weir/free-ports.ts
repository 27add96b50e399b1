/**
 * Ports for servers under test. They are below the range of ephemeral ports, so that no query to an upstream takes a
 * port after it was chosen here and before it is used. Each port belongs to the process that chose it; other workers
 * and other test runs do not use it.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6 } from 'node:net';

const FIRST = 20_000;
const COUNT = 10_000;

/** A port that is free over UDP and TCP on all `addresses`. */
export async function freePort(addresses: readonly string[]): Promise<number> {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if ((await isOurs(port)) && (await isFree(addresses, port))) return port;
  }
  throw new Error(`no port from ${String(FIRST)} on is free on ${addresses.join(', ')}`);
}

/** Whether no other process has chosen the port. An abstract socket with its name is open until this process ends. */
async function isOurs(port: number): Promise<boolean> {
  const claim = createServer();
  try {
    claim.listen({ path: `\0weir-test-port-${String(port)}` });
    await once(claim, 'listening');
    claim.unref();
    return true;
  } catch {
    return false;
  }
}

async function isFree(addresses: readonly string[], port: number): Promise<boolean> {
  for (const address of addresses) {
    const ipv6Only = isIPv6(address);
    const udp = createSocket({ type: ipv6Only ? 'udp6' : 'udp4', ipv6Only });
    const tcp = createServer();
    try {
      udp.bind({ port, address, exclusive: true });
      await once(udp, 'listening');
      tcp.listen({ port, host: address, ipv6Only, exclusive: true });
      await once(tcp, 'listening');
    } catch {
      return false;
    } finally {
      udp.close();
      await new Promise((resolve) => tcp.close(resolve));
    }
  }
  return true;
}
