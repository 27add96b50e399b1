/** Queries that Weir itself, probes and health checks send: they are answered, but neither logged nor counted. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RRClass } from '../../../shared/dns/iana.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { query } from '../../support/dns/dns-message.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { until, within } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { httpCall } from '../../support/weir/http-call.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';
import { clientOnce, clientsOf } from '../../support/weir/stored-clients.ts';

const BALANCER = '127.0.0.9';
/** A private address that the balancer announces in its PROXY header. Weir looks up the host name of this address. */
const PHONE = [10, 0, 0, 7];
const PROXY_V2 = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];

describe.each(BACK_ENDS)('weir with the back end %s', (backEnd) => {
  const stack = new AsyncDisposableStack();
  let weir: Weir;
  let api: ApiClient;
  beforeAll(async () => {
    const upstream = stack.use(await startEchoingUpstream());
    weir = stack.use(
      await Weir.start({
        backEnd,
        upstreams: [`127.0.0.1:${String(upstream.port)}`],
        toml: `[dns]
local_records = ["phone.home.arpa A 10.0.0.7"]
health_check_names = ["health.example.com", "blocked.example.com"]
[dns.health_check]
enabled = false`,
        env: {
          WEIR_SERVER_METRICS_PUBLIC: 'true',
          WEIR_SERVER_PROXY_PROTOCOL_ENABLED: 'true',
          WEIR_SERVER_PROXY_PROTOCOL_TRUSTED: `["${BALANCER}"]`,
        },
      }),
    );
    api = await weir.api();
  });
  afterAll(() => stack.disposeAsync());

  test('logs and counts only the queries of clients, not its own', async () => {
    using udp = await UdpClient.open(weir.dnsPort, '127.0.0.1', '127.0.0.8');
    await api.expect(201, 'POST', '/managed-domains', { domain: 'blocked.example.com', action: 'deny' });
    // A health check: first forwarded, then cached, then blocked.
    for (let i = 0; i < 2; i++)
      expect((await udp.ask('health.example.com', 'A')).data).toEqual([EVERY_ADDRESS]);
    expect((await udp.ask('blocked.example.com', 'A')).data).toEqual(['0.0.0.0']);
    for (const name of ['version.bind', 'nothing.weir']) await udp.ask(name, 'TXT', { qclass: RRClass.CH });
    // The node answers other machines once it is ready.
    await until(
      'a node that is ready',
      async () => (await udp.ask('status.weir', 'TXT', { qclass: RRClass.CH })).data,
      ([state]) => String(state).endsWith('ready'),
    );
    // A probe, which is still detected.
    const probe = await web<Probe>('POST', '/check/probes');
    await udp.ask(probe.name, 'A');
    await udp.ask(probe.name.toUpperCase(), 'AAAA');

    await askAsPhone('www.example.com');
    // The host name of the phone comes from a lookup by Weir itself.
    const phone = await clientOnce(api, ({ hostname }) => hostname === 'phone.home.arpa');
    expect(phone.ip_address).toBe('10.0.0.7');
    expect(await api.queries()).toMatchObject([{ client: '10.0.0.7', domain: 'www.example.com' }]);
    expect((await clientsOf(api)).map(({ ip_address: address }) => address)).toEqual(['10.0.0.7']);
    expect(await api.stats()).toMatchObject({ queries_total: 1, queries_by_status: { ALLOWED: 1 } });
    const metrics = await httpCall('GET', `http://127.0.0.1:${String(weir.webPort)}/metrics`);
    const counts = [...metrics.text.matchAll(/^weir_dns_queries_total\{.*\} (\d+)$/gm)].map(([, count]) =>
      Number(count),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1);
    const seen = await web<Probe>('GET', `/check/probes/${probe.id}`);
    expect(seen).toMatchObject({ asked: true, client: '127.0.0.8', protocol: 'udp' });
  });

  async function web<T>(method: string, path: string): Promise<T> {
    return JSON.parse((await httpCall(method, `http://127.0.0.1:${String(weir.webPort)}${path}`)).text) as T;
  }

  /** Sends an A query with the balancer's PROXY header. */
  async function askAsPhone(name: string): Promise<void> {
    const socket = createSocket('udp4').bind(0, BALANCER);
    await once(socket, 'listening');
    const header = [...PROXY_V2, 0x21, 0x12, 0, 12, ...PHONE, 127, 0, 0, 1, 0x30, 0x39, 0, 53];
    socket.send(Buffer.from([...header, ...query(name, 'A')]), weir.dnsPort, '127.0.0.1');
    await within('a reply', once(socket, 'message'));
    socket.close();
  }
});

interface Probe {
  readonly id: string;
  readonly name: string;
}
