/** Answers of small bootstrap servers, over real sockets. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../shared/clock.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import {
  a,
  cname,
  idOf,
  questionOf,
  response,
  type TestResponse,
  wireName,
} from '../../../test/support/dns/built-messages.ts';
import { type ReceivedQuery, ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import { within } from '../../../test/support/parts/until.ts';
import { BootstrapServer, type FoundAddress } from './bootstrap-server.ts';

const HOST = 'dns.example';
const TRUNCATED = 0x8380;
const FORMERR = 0x8181;
const FOUND: FoundAddress = { address: { ip: '192.0.2.1', family: 4 }, ttlSecs: 300 };

let upstream: ScriptedUpstream;
let server: BootstrapServer;

beforeEach(async () => {
  upstream = await ScriptedUpstream.start();
  server = new BootstrapServer({ ip: upstream.ip, port: upstream.port, family: 4 }, systemClock);
});
afterEach(async () => {
  server.close();
  await upstream.close();
});

const find = (): Promise<readonly FoundAddress[]> =>
  within('the addresses of a host', server.find(wireName(HOST), RRType.A));
const nameIn = ({ bytes }: ReceivedQuery): string => nameToText(questionOf(bytes).qname).toLowerCase();
const reply = (query: ReceivedQuery, parts: TestResponse): void =>
  query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), ...parts }));

describe("BootstrapServer.find(), which resolves an upstream's host name,", () => {
  test('queries the target of an alias if the answer does not contain the target', async () => {
    upstream.udpScript = (query) => {
      const name = nameIn(query);
      reply(query, { answers: [name === HOST ? cname(HOST, 'edge.example') : a(name, '192.0.2.1')] });
    };
    expect(await find()).toEqual([FOUND]);
    expect(upstream.udpQuestions.map(nameIn)).toEqual([HOST, 'edge.example']);
  });

  test('fails for an alias loop', async () => {
    upstream.udpScript = (query) => {
      const name = nameIn(query);
      reply(query, { answers: [cname(name, name === HOST ? 'edge.example' : HOST)] });
    };
    expect(await find()).toEqual([]);
    expect(upstream.udpQuestions.length).toBeLessThanOrEqual(8);
  });

  test('queries over TCP if the response does not fit into a datagram', async () => {
    upstream.udpScript = (query) => reply(query, { flags: TRUNCATED });
    upstream.tcpScript = (query) => reply(query, { answers: [a(HOST, '192.0.2.1')] });
    expect(await find()).toEqual([FOUND]);
    expect(upstream.tcpQueries).toHaveLength(1);
  });

  test('queries over TCP if replies with wrong IDs arrive on its port', async () => {
    upstream.udpScript = (query) => reply(query, { id: idOf(query.bytes) ^ 1 });
    upstream.tcpScript = (query) => reply(query, { answers: [a(HOST, '192.0.2.1')] });
    expect(await find()).toEqual([FOUND]);
  });

  test('repeats the query without EDNS if the server rejects EDNS', async () => {
    upstream.udpScript = (query) => {
      const hasEdns = query.bytes[11] === 1;
      reply(query, hasEdns ? { flags: FORMERR } : { answers: [a(HOST, '192.0.2.1')] });
    };
    expect(await find()).toEqual([FOUND]);
  });

  test('returns nothing after close()', async () => {
    const found = find();
    server.close();
    expect(await found).toEqual([]);
  });
});
