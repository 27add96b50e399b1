/** Private addresses in answers to public names, from the upstream's socket to the client's. */
import { describe, expect, test } from '@jest/globals';
import { nameToText } from '../../../shared/dns/name.ts';
import { addressFromText, isMappedIpv4 } from '../../../shared/net/ip.ts';
import { NO_NAME_RULES } from '../../../shared/snapshot/name-rules.ts';
import { questionOf, type TestRecord, wireName } from '../../support/dns/built-messages.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { answersWith } from '../../support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';

const BLOCKED = 15;
const names = { ...NO_NAME_RULES, rebinding: { isOn: true, exempt: [wireName('dnsbl.example')] } };
const SNAPSHOT = snapshotOf([], {}, 1, { names });

function address(text: string): TestRecord {
  const bytes = addressFromText(text)!;
  const isIpv4 = isMappedIpv4(bytes) && !text.includes(':');
  const rdata = isIpv4 ? bytes.slice(12) : bytes;
  return { owner: Uint8Array.of(0xc0, 12), type: isIpv4 ? 'A' : 'AAAA', ttl: 300, rdata };
}

/** Whether a query is for the NAT64 prefix (RFC 7050). */
const isDiscovery = (query: Uint8Array): boolean =>
  nameToText(questionOf(query).qname).toLowerCase() === 'ipv4only.arpa';

/** An upstream with these addresses for every name, except `announced` for ipv4only.arpa. */
async function upstreamWith(text: string, announced: readonly string[] = []): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query, index) => {
    const answers = isDiscovery(query.bytes) ? announced.map(address) : [address(text)];
    answersWith({ answers })(query, index);
  };
  return upstream;
}

describe('an answer with a private address', () => {
  test.each(['2002:c0a8:101::1', '100.64.0.1', '239.1.2.3', 'ff02::1', '192.168.1.1', '127.0.0.2'])(
    '%s is blocked, from the upstream and from the cache',
    async (text) => {
      await using upstream = await upstreamWith(text);
      await using worker = await RunningWorker.start(SNAPSHOT, { upstream });
      using client = await UdpClient.open(worker.port);
      const type = text.includes(':') ? 'AAAA' : 'A';
      for (let i = 0; i < 2; i++) {
        const reply = await client.ask('www.example.org', type, { edns: {} });
        expect([reply.rcode, reply.data, reply.extendedErrors]).toEqual([0, [], [BLOCKED]]);
      }
    },
  );

  test('is not blocked in an exempt zone, such as a DNS blocklist', async () => {
    await using upstream = await upstreamWith('127.0.0.2');
    await using worker = await RunningWorker.start(SNAPSHOT, { upstream });
    using client = await UdpClient.open(worker.port);
    expect((await client.ask('2.0.0.127.dnsbl.example', 'A')).data).toEqual(['127.0.0.2']);
  });
});

describe('an AAAA answer from a local IPv6 prefix that NAT64 may use', () => {
  const ANNOUNCED = ['fd00:64::192.0.0.170', 'fd00:64::192.0.0.171'];
  test.each([
    ['passes if the prefix is announced', 'fd00:64::c633:6401', ANNOUNCED, ['fd00:64::c633:6401']],
    ['is blocked if the embedded address is private', 'fd00:64::c0a8:101', ANNOUNCED, []],
    ['is blocked if it has another prefix', 'fd00:65::c633:6401', ANNOUNCED, []],
    ['is blocked without NAT64', 'fd00:64::c633:6401', [], []],
  ])('%s', async (_, text, announced, expected) => {
    await using upstream = await upstreamWith(text, announced);
    await using worker = await RunningWorker.start(SNAPSHOT, { upstream });
    using client = await UdpClient.open(worker.port);
    for (const name of ['www.example.org', 'www.example.org', 'other.example.org'])
      expect((await client.ask(name, 'AAAA')).data).toEqual(expected);
    const discoveries = upstream.udpQuestions.filter(({ bytes }) => isDiscovery(bytes));
    expect(discoveries).toHaveLength(1);
  });
});
