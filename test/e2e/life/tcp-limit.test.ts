/** The limit of TCP connections per address, over real sockets and all workers. */
import { describe, expect, test } from '@jest/globals';
import { TcpClient } from '../../support/dns/dns-client.ts';
import { until } from '../../support/parts/until.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const LIMIT = 3;
const WORKERS = 2;
const NAME = 'here.home.example';
const CLIENT = '127.0.0.41';

function startWeir(limit: number): Promise<Weir> {
  return Weir.start({
    database: 'none',
    toml: `[dns]
local_records = ["${NAME} A 192.0.2.20"]
[dns.rate_limit]
tcp_max_connections_per_ip = ${String(limit)}
`,
    env: { WEIR_SERVER_WORKERS: String(WORKERS) },
  });
}

/**
 * Opens this many connections and sends a query on each; returns the connections on which the query is answered, which
 * stay open.
 */
async function openAnswered(weir: Weir, count: number): Promise<TcpClient[]> {
  const clients: TcpClient[] = [];
  for (let i = 0; i < count; i++) {
    const client = await TcpClient.open(weir.dnsPort, '127.0.0.1', CLIENT);
    const isAnswered = await client.ask(NAME, 'A').then(
      () => true,
      () => false,
    );
    if (isAnswered) clients.push(client);
  }
  return clients;
}

describe('weir with a limit on TCP connections', () => {
  test('limits an address over all workers, and frees the connections of a thread that dies', async () => {
    await using weir = await startWeir(LIMIT);
    const clients = await openAnswered(weir, 6 * LIMIT);
    expect(clients.length).toBe(LIMIT);

    for (let worker = 0; worker < WORKERS; worker++) weir.injectFault(worker, 'resolve', 'exit');
    await Promise.all(clients.map((client) => client.closed));
    await until(
      'both threads to be replaced',
      () => weir.replacedThreads,
      (count) => count >= WORKERS,
    );
    // The replacement of each thread listens as soon as it runs. Until then, connections are refused.
    const after: TcpClient[] = [];
    await until(
      `${String(LIMIT)} connections to be answered again`,
      async () => after.push(...(await openAnswered(weir, 1).catch(() => []))),
      (count) => count >= LIMIT,
    );
    expect((await openAnswered(weir, 6 * LIMIT)).length).toBe(0);
    await Promise.all(after.map((client) => client.close()));
  });

  test('accepts every connection if the limit is 0', async () => {
    await using weir = await startWeir(0);
    const clients = await openAnswered(weir, 40);
    expect(clients.length).toBe(40);
    await Promise.all(clients.map((client) => client.close()));
  });
});
