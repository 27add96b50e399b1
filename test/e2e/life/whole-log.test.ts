/** The query log contains every answered query exactly once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RRClass, Rcode } from '../../../shared/dns/iana.ts';
import type { QueryStatusName } from '../../../shared/query-log.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import type { Question } from '../../support/dns/dns-client.ts';
import { query } from '../../support/dns/dns-message.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

const CLIENTS = 4;
const QUERIES_PER_CLIENT = 500;
const TCP_QUERIES = 100;

let upstream: ScriptedUpstream;
let lists: ListServer;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  lists = await startListServer();
  lists.serve('/blocked.txt', '*.blocked.example.com\n');
});
afterAll(async () => {
  await upstream.close();
  await lists.close();
});

/** Questions of five kinds in equal parts: blocked, not in the cache, in the cache, without an address, refused. */
function mixOf(client: number): Question[] {
  return Array.from({ length: QUERIES_PER_CLIENT }, (_, i): Question => {
    const serial = `${String(client)}-${String(i)}`;
    switch (i % 5) {
      case 0:
        return { name: `${serial}.blocked.example.com`, type: 'A' };
      case 1:
        return { name: `${serial}.new.example.com`, type: 'A' };
      case 2:
        return { name: 'known.example.com', type: 'A', edns: {} };
      case 3:
        return { name: `${serial}.nodata.example.com`, type: 'AAAA' };
      default:
        return { name: `${serial}.refused.example.com`, type: 'A', qclass: RRClass.HS };
    }
  });
}

describe.each(BACK_ENDS)('the query log of weir, back end %s', (backEnd) => {
  let weir: Weir;
  beforeAll(async () => {
    weir = await Weir.start({ backEnd, upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  });
  afterAll(() => weir.stop());

  test('weir logs every query once with its outcome, at any rate', async () => {
    const api = await weir.api();
    expect(await api.addSource({ name: 'blocked', url: lists.url('/blocked.txt') })).toMatchObject({
      status: 'ok',
    });
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => UdpClient.open(weir.dnsPort)));
    await clients[0]!.ask('known.example.com', 'A');
    const sent = CLIENTS * QUERIES_PER_CLIENT + 1;

    const replies = (await Promise.all(clients.map((client, index) => client.askAll(mixOf(index))))).flat();
    expect(replies.filter(({ rcode }) => rcode === Rcode.SERVFAIL)).toHaveLength(0);
    expect(replies.filter(({ rcode }) => rcode === Rcode.REFUSED)).toHaveLength(replies.length / 5);
    await using tcp = await TcpClient.open(weir.dnsPort);
    for (let i = 0; i < TCP_QUERIES; i++) tcp.send(query('known.example.com', 'A', { id: i, edns: {} }));
    expect(await tcp.messages(TCP_QUERIES)).toHaveLength(TCP_QUERIES);
    for (const client of clients) {
      expect(client.unexpected).toHaveLength(0);
      client.close();
    }

    expect(await api.untilQueryCount(sent + TCP_QUERIES)).toBe(sent + TCP_QUERIES);
    const fifth = replies.length / 5;
    const count = (status: QueryStatusName, more = ''): Promise<number> =>
      api.queryCount(`status=${status}&${more}`);
    expect(await count('BLOCKED_LIST')).toBe(fifth);
    expect(await count('REFUSED')).toBe(fifth);
    expect(await count('CACHED', 'domain=known.example.com&protocol=udp')).toBe(fifth);
    expect(await count('CACHED', 'protocol=tcp')).toBe(TCP_QUERIES);
    expect(await count('ALLOWED', 'domain=.new.example.com')).toBe(fifth);
    expect(await count('ALLOWED', 'domain=.nodata.example.com&type=AAAA')).toBe(fifth);
    // Every name that was queried once is in the log once.
    const unique = await api.queries('domain=.new.example.com');
    expect(new Set(unique.map(({ domain }) => domain)).size).toBe(fifth);

    expect(await api.stats()).toMatchObject({
      queries_total: sent + TCP_QUERIES,
      queries_blocked: fifth,
      clients: 1,
      queries_by_protocol: { udp: sent, tcp: TCP_QUERIES },
      source_stats: { blocked: fifth },
    });
  });

  // process-death.test.ts covers node:dgram.
  if (backEnd === 'dgram') return;
  test('weir has every answered query in the log exactly once when it stops', async () => {
    using udp = await UdpClient.open(weir.dnsPort);
    const count = 1000;
    await udp.askAll(
      Array.from({ length: count }, (_, i): Question => ({ name: `${String(i)}.stop.example`, type: 'A' })),
    );
    expect(await weir.end('SIGTERM')).toMatchObject({ code: 0 });
    await using again = await Weir.start({ backEnd, tempDir: weir.tempDir });
    const api = await again.api();
    expect(await api.untilQueryCount(count, 'domain=.stop.example')).toBe(count);
    expect(await again.stop()).toMatchObject({ code: 0 });
  });
});
