/**
 * Clients whose MAC addresses cannot be found, on a real network: replies to them wait in the kernel for seconds, but
 * must not delay replies to other clients.
 */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { holdNetwork } from '../../support/weir/machine-network.ts';
import { NetworkDevice } from '../../support/weir/network-device.ts';
import type { SilentFlood } from '../../support/weir/silent-clients.ts';
import { type BackEnd, Weir } from '../../support/weir/weir-process.ts';

const MAC = '02:00:5e:10:00:05';
const SERVER = { ipv4: '198.18.77.1', ipv6: '2001:db8:77::1' } as const;
const OWN_ADDRESSES = [`${SERVER.ipv4}/24`, `${SERVER.ipv6}/64`];
const PROGRAM = join(import.meta.dirname, '..', '..', 'support', 'weir', 'silent-clients.ts');
/**
 * The kernel buffers up to 208 KiB for each of these clients, 13 MiB in total. This exceeds a send buffer of 4 MiB,
 * even though the kernel doubles that size.
 */
const SILENT = Array.from({ length: 64 }, (_, i) => i + 10);
/** A name whose TXT records fill a reply, so that a few replies fill the buffers. */
const LARGE = 'large.home.example';
const GOOD = 'good.home.example';
/** Number of rounds of the good client. */
const ROUNDS = 300;
const RECORDS = [
  `${GOOD} 60 A ${EVERY_ADDRESS}`,
  ...[1, 2, 3, 4].map((n) => `${LARGE} 60 TXT ${String(n).repeat(250)}`),
];

async function counted(weir: Weir): Promise<(counter: string) => number> {
  const { workers } = await weir.measure();
  return (counter) =>
    workers.reduce(
      (sum, { answer, resolve }) => sum + answer.counters[counter]! + resolve.counters[counter]!,
      0,
    );
}

const releaseNetwork = await holdNetwork('alone');
afterAll(releaseNetwork);

describe('weir with queries from source addresses that do not accept replies', () => {
  /** Floods a Weir server with one worker from these addresses; returns lost queries and counters. */
  async function flood(
    backEnd: BackEnd,
    how: Pick<SilentFlood, 'names' | 'asksGood'> & { family: keyof typeof SERVER },
  ): Promise<{ answered: number; replaced: number; full: number }> {
    await using upstream = await startEchoingUpstream();
    using device = NetworkDevice.make(MAC, OWN_ADDRESSES);
    device.setAddress('198.18.77.2/24');
    device.setAddress('2001:db8:77::2/64');
    const silent = SILENT.map((n) =>
      how.family === 'ipv4' ? `198.18.77.${String(n)}` : `2001:db8:77::${String(n)}`,
    );
    for (const address of silent) device.addSilentAddress(address);
    await using weir = await Weir.start({
      backEnd,
      addresses: ['127.0.0.1', SERVER.ipv4, SERVER.ipv6],
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
      database: 'none',
      toml: `[dns]\nlocal_records = ${JSON.stringify(RECORDS)}\n`,
      env: { WEIR_SERVER_WORKERS: '1' },
    });
    const { names, asksGood } = how;
    const server = SERVER[how.family];
    const good = { rounds: ROUNDS, goodName: GOOD };
    const asked: SilentFlood = { server, port: weir.dnsPort, silent, names, asksGood, ...good };
    const answered = Number(await device.run(PROGRAM, JSON.stringify(asked)));
    // Lost queries do not delay the replies to other clients.
    using udp = await UdpClient.open(weir.dnsPort);
    expect((await udp.ask(GOOD, 'A')).data).toEqual([EVERY_ADDRESS]);
    const full = (await counted(weir))('SEND_BUFFER_FULL');
    return { answered, replaced: weir.replacedThreads, full };
  }

  // The next test covers IPv4, including the resolve thread.
  test.each(['ipv6'] as const)(
    'answers all other clients over %s, and replaces no thread',
    async (family) => {
      const outcome = await flood('batch', { family, names: [LARGE], asksGood: true });
      expect(outcome).toEqual({ answered: ROUNDS, replaced: 0, full: 0 });
    },
  );

  test('answers all other clients while its resolve thread replies to such addresses', async () => {
    const outcome = await flood('batch', {
      family: 'ipv4',
      names: ['n*.example.com', LARGE],
      asksGood: true,
    });
    expect(outcome).toEqual({ answered: ROUNDS, replaced: 0, full: 0 });
  });

  test('drops and counts replies over node:dgram while the send buffer is full, and keeps answering', async () => {
    const outcome = await flood('dgram', { family: 'ipv4', names: [LARGE], asksGood: false });
    expect(outcome).toMatchObject({ answered: ROUNDS, replaced: 0 });
    expect(outcome.full).toBeGreaterThan(0);
  });
});
