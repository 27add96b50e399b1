/** Upstreams over TCP, TLS and HTTPS whose connections end early or go silent: clients are not affected. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestAuthority, type TestCertificate } from '../../support/dns/certificates.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { type StreamScript, StreamServer } from '../../support/dns/stream-server.ts';
import {
  ADDRESS,
  allAnswered,
  AskedWorker,
  emptyAnswer,
  goodAnswer,
} from '../../support/parts/asked-worker.ts';
import { until } from '../../support/parts/until.ts';

const TRUNCATED = 0x8380;

let authority: TestAuthority;
let certificate: TestCertificate;
beforeAll(() => {
  authority = new TestAuthority();
  certificate = authority.issue('IP:127.0.0.1');
});
afterAll(() => authority.close());

const askedThrough = (server: StreamServer): Promise<AskedWorker> =>
  AskedWorker.start([server.settings], { extraCa: [authority.cert] });
const good: StreamScript = ({ bytes, reply }) => reply(goodAnswer(bytes));

/** Answers this many questions on each connection, and closes it after the last one. */
function answersOnly(count: number, how: 'end' | 'reset'): StreamScript {
  return ({ bytes, peer, reply }) => {
    if (peer.questions > count) return;
    reply(goodAnswer(bytes));
    // The delay lets the answers arrive before the reset.
    if (peer.questions === count) setTimeout(() => peer[how](), 20);
  };
}

describe('a server that closes its connections after a few answers', () => {
  test('answers queries that are truncated over UDP, one per TCP connection', async () => {
    await using server = await ScriptedUpstream.start();
    server.udpScript = ({ bytes, reply }) => reply(emptyAnswer(bytes, TRUNCATED));
    const answered = new Set<unknown>();
    server.tcpScript = ({ bytes, connection, reply }) => {
      if (answered.has(connection)) return;
      answered.add(connection);
      reply(goodAnswer(bytes));
      connection?.end();
    };
    const settings = {
      address: 'udp://upstream',
      transport: 'udp',
      host: server.ip,
      port: server.port,
    } as const;
    await using asked = await AskedWorker.start([settings]);
    expect(await asked.askMany(10)).toEqual(allAnswered(10));
  });

  test.each([
    ['tcp', 1, 'end', 12],
    ['tls', 1, 'end', 12],
    ['tcp', 5, 'reset', 30],
    ['tls', 5, 'end', 30],
  ] as const)(
    'answers over %s, %d per connection, then %s: all of %d concurrent queries',
    async (kind, count, how, all) => {
      await using server = await StreamServer.start(kind, certificate, answersOnly(count, how));
      await using asked = await askedThrough(server);
      expect(await asked.askMany(all)).toEqual(allAnswered(all));
    },
  );

  test('receives no more queries per connection than it has answered on earlier connections', async () => {
    await using server = await StreamServer.start('tcp', certificate, answersOnly(1, 'end'));
    await using asked = await askedThrough(server);
    await asked.askMany(12);
    const before = server.peers.length;
    expect(await asked.askMany(12)).toEqual(allAnswered(12));
    expect(server.peers.slice(before).map(({ questions }) => questions)).toEqual(Array(12).fill(1));
  });
});

describe('a server whose idle connections go silent', () => {
  test.each(['tcp', 'tls', 'https'] as const)(
    'answers one query over %s, and after its connection went silent, 20 concurrent queries',
    async (kind) => {
      await using server = await StreamServer.start(kind, certificate, good);
      await using asked = await askedThrough(server);
      expect(await asked.ask()).toBe(ADDRESS);
      const lost = new Set(server.peers);
      server.script = (question) => {
        if (!lost.has(question.peer)) good(question);
      };
      expect(await asked.askMany(20)).toEqual(allAnswered(20));
    },
  );

  test('answers 12 queries over TCP with idle seconds between, without delay once silence was detected', async () => {
    const lastMs = new Map<unknown, number>();
    let lost = 0;
    await using server = await StreamServer.start('tcp', certificate, (question) => {
      const nowMs = performance.now();
      const sinceMs = nowMs - (lastMs.get(question.peer) ?? nowMs);
      if (sinceMs > 1000) {
        lost++;
        return;
      }
      lastMs.set(question.peer, nowMs);
      good(question);
    });
    await using asked = await askedThrough(server);
    const beIdle = (): Promise<unknown> => {
      const startMs = performance.now();
      return until('the connection to be idle', () => performance.now() - startMs > 1100);
    };
    const answers = [];
    for (let round = 0; round < 3; round++) {
      answers.push(...(await asked.askMany(4)));
      if (round < 2) await beIdle();
    }
    expect(answers).toEqual(allAnswered(12));
    const known = lost;
    await beIdle();
    expect(await asked.askMany(4)).toEqual(allAnswered(4));
    expect(lost).toBe(known);
  });
});
