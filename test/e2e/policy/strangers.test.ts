/**
 * Access to DNS on a real network, from a device of another network whose addresses are neither private nor directly
 * connected to this machine.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { TestAuthority } from '../../support/dns/certificates.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { holdNetwork } from '../../support/weir/machine-network.ts';
import { NetworkDevice } from '../../support/weir/network-device.ts';
import { clientsOf } from '../../support/weir/stored-clients.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const MAC = '02:00:5e:10:00:01';
const SERVER_NAME = 'dns.example.org';
const NAME = 'www.example.com';
const KEY = 'k3v9x2q7w4m1zp8';
const SHORT_KEY = 'phone';
/** For each IP version, the machine's address on the cable and the device's address behind a router. */
const FAMILIES = [
  { server: '198.51.100.1', device: '203.0.113.9', network: '203.0.113.0/24' },
  { server: '2001:db8:51::1', device: '2001:db8:99::9', network: '2001:db8:99::/64' },
] as const;
const REFUSED = [5, 18];
const ANSWERED = [EVERY_ADDRESS];
const EVERY_WAY_ANSWERED = { udp: ANSWERED, tcp: ANSWERED, dot: ANSWERED, doh: ANSWERED };
const STRANGER = { udp: REFUSED, tcp: 'closed', dot: 'closed', doh: 'closed' };

const releaseNetwork = await holdNetwork('alone');
afterAll(releaseNetwork);

describe('weir with a client of an unknown network', () => {
  const stack = new AsyncDisposableStack();
  let device: NetworkDevice;
  let weir: Weir;
  let api: ApiClient;
  let ports: { dot: number; doh: number };
  beforeAll(async () => {
    const authority = new TestAuthority();
    stack.defer(() => authority.close());
    device = stack.use(NetworkDevice.make(MAC, ['198.51.100.1/24', '2001:db8:51::1/64']));
    device.joinByRoute('203.0.113.9/24', '198.51.100.0/24');
    device.joinByRoute('2001:db8:99::9/64', '2001:db8:51::/64');
    const upstream = stack.use(await startEchoingUpstream());
    ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
    weir = stack.use(
      await Weir.start({
        addresses: ['127.0.0.1', '198.51.100.1', '2001:db8:51::1'],
        upstreams: [`127.0.0.1:${String(upstream.port)}`],
        toml: encryptedToml(ports, authority.issue(`DNS:${SERVER_NAME},DNS:*.${SERVER_NAME}`)),
      }),
    );
    api = await weir.api();
    // Other machines are answered only once the node is ready.
    using udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask(NAME, 'A')).data).toEqual(ANSWERED);
    await api.untilQueryCount(1);
  });
  afterAll(() => stack.disposeAsync());

  /** Result of a query from the device over each protocol. */
  async function resultOn(server: string, key = ''): Promise<unknown> {
    const args = [server, weir.dnsPort, ports.dot, ports.doh, SERVER_NAME, key, NAME].map(String);
    return JSON.parse(await device.run(ASK_EVERY_WAY, ...args));
  }

  const allow = (dns: object): Promise<unknown> => api.expect(200, 'PATCH', '/config', { dns });

  test.each(FAMILIES)(
    'refuses $device, until its network is allowed',
    async ({ server, device: own, network }) => {
      const before = await api.queryCount();
      expect(await resultOn(server)).toEqual(STRANGER);
      const { stages, status } = await explain(own);
      expect(stages.at(-1)).toMatchObject({
        stage: 'access',
        detail: expect.stringContaining('may not query'),
      });
      expect(status).toBe('REFUSED');
      // The device is neither in the log nor among the clients.
      expect(await api.queryCount()).toBe(before);
      expect((await clientsOf(api)).filter(({ ip_address: address }) => address === own)).toEqual([]);

      await allow({ allowed_clients: ['private', 'connected', network] });
      expect(await resultOn(server)).toEqual(EVERY_WAY_ANSWERED);
      await allow({ blocked_clients: [network] });
      expect(await resultOn(server)).toEqual(STRANGER);
      await allow({ allowed_clients: ['any'], blocked_clients: [MAC] });
      await allow({ allowed_clients: null, blocked_clients: null });
      expect(await resultOn(server)).toEqual(STRANGER);
    },
  );

  test.each(FAMILIES)('answers $device with a client key from any network', async ({ server, network }) => {
    const { id } = await api.expect<{ id: number }>(201, 'POST', '/clients', {
      name: `phone of ${network}`,
      client_key: SHORT_KEY,
    });
    // A key that is short enough to guess sets the group, but does not grant access.
    expect(await resultOn(server, SHORT_KEY)).toEqual(STRANGER);
    await api.expect(200, 'PATCH', `/clients/${String(id)}`, { client_key: KEY });
    const keyed = { ...STRANGER, dot: ANSWERED, doh: ANSWERED };
    expect(await resultOn(server, KEY)).toEqual(keyed);
    expect(await resultOn(server, KEY.toUpperCase())).toEqual(keyed);
    // Without a valid key, a TLS handshake for HTTPS still succeeds, because the path with the key arrives only
    // afterwards.
    expect(await resultOn(server)).toEqual({ ...STRANGER, doh: REFUSED });
    expect(await resultOn(server, 'k3v9x2q7w4m1zp9')).toEqual({ ...STRANGER, doh: REFUSED });
    await allow({ blocked_clients: [KEY] });
    expect(await resultOn(server, KEY)).toEqual(STRANGER);
    await allow({ blocked_clients: [network] });
    expect(await resultOn(server, KEY)).toEqual(STRANGER);
    await allow({ blocked_clients: null });
    expect(await resultOn(server, KEY)).toEqual(keyed);
    // Deleting the client revokes its key.
    await api.expect(204, 'DELETE', `/clients/${String(id)}`);
    expect(await resultOn(server, KEY)).toEqual(STRANGER);
  });

  function explain(client: string): Promise<ExplainAnswer> {
    return api.expect<ExplainAnswer>(200, 'GET', `/explain?domain=${NAME}&type=A&client=${client}`);
  }
});

const ASK_EVERY_WAY = join(import.meta.dirname, '..', '..', 'support', 'weir', 'ask-every-way.ts');
