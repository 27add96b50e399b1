import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { nameToText } from '../../../shared/dns/name.ts';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';
import {
  type TestRecord,
  a,
  cname,
  octets,
  question,
  response,
  u16,
} from '../../../test/support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { Bootstrap, type HostAddress } from './bootstrap.ts';

const HOST = 'dns.example';
const aaaa = (owner: string, last: number, ttl = 300): TestRecord => {
  return { owner, type: 'AAAA', ttl, rdata: octets(...[0x2001, 0xdb8, 0, 0, 0, 0, 0, last].map(u16)) };
};
const V4: HostAddress = { ip: '192.0.2.1', family: 4 };
const V6: HostAddress = { ip: '2001:db8::1', family: 6 };

/** Answers of a server, by type; null = it never answers. */
interface Zone {
  A: TestRecord[] | null;
  AAAA: TestRecord[] | null;
  rcode?: number;
}

let clock: TestClock;
let server: ScriptedUpstream;
let zone: Zone;
let bootstrap: Bootstrap;

beforeEach(async () => {
  clock = new TestClock();
  zone = { A: [a(HOST, V4.ip)], AAAA: [aaaa(HOST, 1)] };
  server = await ScriptedUpstream.start();
  answerFrom(server, () => zone);
  bootstrap = new Bootstrap([`127.0.0.1:${server.port}`], clock);
});
afterEach(async () => {
  bootstrap.close();
  await server.close();
});

/** Answers queries for the host with the current result of `find`; names have the letter case of the query. */
function answerFrom(upstream: ScriptedUpstream, find: () => Zone): void {
  upstream.udpScript = (query) => {
    const { bytes } = query;
    const qname = bytes.slice(12, 12 + HOST.length + 2);
    const type = bytes[12 + qname.length + 1] === RRType.A ? 'A' : 'AAAA';
    const { [type]: answers, rcode = Rcode.NOERROR } = find();
    if (answers === null) return;
    const message = response(question(nameToText(qname).toLowerCase(), type), {
      id: (bytes[0]! << 8) | bytes[1]!,
      flags: 0x8180 | rcode,
      answers,
    });
    message.set(qname, 12);
    query.reply(message);
  };
}

const lookup = (host = HOST): Promise<readonly HostAddress[]> =>
  within('the addresses', new Promise((done) => bootstrap.lookup(host, done)));

describe('Bootstrap, which resolves upstream host names,', () => {
  test('lookup() queries A and AAAA, and caches the result for its TTL', async () => {
    zone.A = [a(HOST, V4.ip, 300)];
    zone.AAAA = [aaaa(HOST, 1, 120)];
    const found = await lookup();
    expect(found).toEqual([V4, V6]);
    expect(server.udpQueries).toHaveLength(2);
    clock.advance(119_999);
    expect(await lookup()).toBe(found);
    expect(server.udpQueries).toHaveLength(2);
  });

  test('lookup() returns an expired address at once, and repeats the query in the background', async () => {
    const found = await lookup();
    zone.A = [a(HOST, '192.0.2.9')];
    clock.advance(300_000);
    expect(await lookup()).toBe(found);
    const now = await until(
      'another address',
      () => lookup(),
      (addresses) => addresses !== found,
    );
    expect(now).toEqual([{ ip: '192.0.2.9', family: 4 }, V6]);
    expect(server.udpQueries).toHaveLength(4);
  });

  test.each([
    ['a minute at least', 1, 59_999, 60_000],
    ['a day at most', 999_999, 86_399_999, 86_400_000],
  ])('lookup() keeps an address for %s', async (_what, ttl, keptMs, overMs) => {
    zone = { A: [a(HOST, V4.ip, ttl)], AAAA: [] };
    await lookup();
    clock.advance(keptMs);
    await lookup();
    expect(server.udpQueries).toHaveLength(2);
    clock.advance(overMs - keptMs);
    const asked = new Promise((done) => (server.udpScript = done));
    await lookup();
    await within('the question', asked);
  });

  test('lookup() sends one query for all waiting callers', async () => {
    const all = await Promise.all([lookup(), lookup(), lookup()]);
    expect(all).toEqual([
      [V4, V6],
      [V4, V6],
      [V4, V6],
    ]);
    expect(server.udpQueries).toHaveLength(2);
  });

  test('lookup() follows the aliases of an answer', async () => {
    zone = { A: [cname(HOST, 'a.example'), a('a.example', V4.ip)], AAAA: [] };
    expect(await lookup()).toEqual([V4]);
  });

  test('recheck() repeats the lookup of a host before the TTL of its address has expired, at most every 10 s', async () => {
    zone = { A: [a(HOST, '192.0.2.66', 3600)], AAAA: [] };
    const wrong = await lookup();
    zone = { A: [a(HOST, V4.ip, 3600)], AAAA: [] };
    bootstrap.recheck(HOST);
    expect(await lookup()).toBe(wrong);
    clock.advance(9_999);
    expect(await lookup()).toBe(wrong);
    expect(server.udpQueries).toHaveLength(2);
    clock.advance(1);
    expect(await lookup()).toEqual([V4]);
    clock.advance(10_000);
    expect(await lookup()).toEqual([V4]);
    expect(server.udpQueries).toHaveLength(4);
  });

  test('recheck() keeps the known addresses while no bootstrap server answers', async () => {
    const found = await lookup();
    zone = { A: null, AAAA: null };
    bootstrap.recheck(HOST);
    clock.advance(10_000);
    expect(await lookup()).toBe(found);
  });

  test('recheck() of a literal IP address does nothing', async () => {
    const found = await lookup('192.0.2.7');
    bootstrap.recheck('192.0.2.7');
    clock.advance(10_000);
    expect(await lookup('192.0.2.7')).toBe(found);
  });

  test.each([
    ['192.0.2.7', [{ ip: '192.0.2.7', family: 4 }]],
    ['2001:DB8:0::7', [{ ip: '2001:db8::7', family: 6 }]],
  ])('lookup() of the literal IP address %s sends no query', async (host, addresses) => {
    expect(await lookup(host)).toEqual(addresses);
    clock.advance(1e12);
    expect(await lookup(host)).toEqual(addresses);
    expect(server.udpQueries).toHaveLength(0);
  });

  test('lookup() queries the next server if the first returns no address', async () => {
    await using other = await ScriptedUpstream.start();
    answerFrom(other, () => ({ A: [a(HOST, V4.ip)], AAAA: [], rcode: Rcode.NOERROR }));
    zone = { A: [], AAAA: [], rcode: Rcode.NXDOMAIN };
    bootstrap = new Bootstrap(
      ['not an address', `127.0.0.1:${server.port}`, `127.0.0.1:${other.port}`],
      clock,
    );
    expect(await lookup()).toEqual([V4]);
    expect([server.udpQueries.length, other.udpQueries.length]).toEqual([2, 2]);
  });

  test('lookup() returns the addresses of one IP version if the query for the other version gets no answer', async () => {
    zone = { A: null, AAAA: [aaaa(HOST, 1)] };
    expect(await lookup()).toEqual([V6]);
  });

  test('lookup() returns nothing if no server knows the host, and queries again at the next call', async () => {
    zone = { A: [], AAAA: [] };
    expect(await lookup()).toEqual([]);
    zone = { A: [a(HOST, V4.ip)], AAAA: [] };
    expect(await lookup()).toEqual([V4]);
  });

  test('close() ends waiting lookups without an address, and no server is queried afterwards', async () => {
    zone = { A: null, AAAA: null };
    const waiting = lookup();
    bootstrap.close();
    expect(await waiting).toEqual([]);
    const before = server.udpQueries.length;
    expect(await lookup('other.example')).toEqual([]);
    // This query of the test is sent after all queries of the bootstrap object.
    zone = { A: [a(HOST, V4.ip)], AAAA: [] };
    const proof = new Bootstrap([`127.0.0.1:${server.port}`], clock);
    await within('the addresses', new Promise((done) => proof.lookup(HOST, done)));
    proof.close();
    expect(server.udpQueries.slice(before).filter(({ bytes }) => bytes[12] === 'other'.length)).toEqual([]);
  });
});
