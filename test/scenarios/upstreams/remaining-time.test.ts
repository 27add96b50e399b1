/** Upstreams that are slow, lossy or briefly unreachable: a question is retried as long as it has time left. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { nameToText } from '../../../shared/dns/name.ts';
import type { UpstreamSettings } from '../../../shared/policy/upstream-settings.ts';
import { questionOf } from '../../support/dns/built-messages.ts';
import { type ReceivedQuery, type Script, ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { StreamServer } from '../../support/dns/stream-server.ts';
import {
  ADDRESS,
  allAnswered,
  AskedWorker,
  emptyAnswer,
  goodAnswer,
} from '../../support/parts/asked-worker.ts';
import { until } from '../../support/parts/until.ts';

const NOERROR = 0x8180;
const SERVFAIL = 2;

let server: ScriptedUpstream;
beforeEach(async () => {
  server = await ScriptedUpstream.start();
});
afterEach(() => server[Symbol.asyncDispose]());

const good: Script = ({ bytes, reply }) => reply(goodAnswer(bytes));
const nameOf = ({ bytes }: ReceivedQuery): string => nameToText(questionOf(bytes).qname).toLowerCase();

function settingsOf({ ip, port }: ScriptedUpstream): UpstreamSettings {
  return { address: `udp://${ip}:${String(port)}`, transport: 'udp', host: ip, port };
}

/** Answers the first `count` queries of each name with SERVFAIL. */
function failsFirst(count: number): Script {
  const asked = new Map<string, number>();
  return (query, index) => {
    const times = (asked.get(nameOf(query)) ?? 0) + 1;
    asked.set(nameOf(query), times);
    if (times > count) good(query, index);
    else query.reply(emptyAnswer(query.bytes, NOERROR | SERVFAIL));
  };
}

describe('a query within its time limit', () => {
  test('is answered by a server that refuses datagrams for the first 0.8 s', async () => {
    const { ip, port } = server;
    const settings = settingsOf(server);
    await server.close();
    await using asked = await AskedWorker.start([settings]);
    const reply = asked.ask();
    const startMs = performance.now();
    await until('the server to be back', () => performance.now() - startMs > 800);
    server = await ScriptedUpstream.start(ip, port);
    server.udpScript = good;
    expect(await reply).toBe(ADDRESS);
  });

  test('is answered by a server that closes its first connection without an answer', async () => {
    server.onConnection = (connection) => {
      if (server.tcpConnections === 1) connection.end();
    };
    server.tcpScript = good;
    await using asked = await AskedWorker.start([{ ...settingsOf(server), transport: 'tcp' }]);
    expect(await asked.ask()).toBe(ADDRESS);
  });

  test('is sent at most three times to a silent server, from two source ports', async () => {
    await using asked = await AskedWorker.start([settingsOf(server)]);
    expect(await asked.ask()).toBe(SERVFAIL);
    expect(server.udpQueries).toHaveLength(3);
    // The first try and the resolver each use their own port.
    expect(server.udpQuestions).toHaveLength(2);
  });

  test('is answered by a router that queues 8 of 40 concurrent queries and drops the others', async () => {
    const queue: ReceivedQuery[] = [];
    const forward = (): void => {
      const query = queue.shift();
      query?.reply(goodAnswer(query.bytes));
    };
    server.udpScript = (query) => {
      if (queue.length < 8) queue.push(query);
    };
    // Allows time for a busy machine, on which the router also forwards late.
    await using asked = await AskedWorker.start([settingsOf(server)], { queryTimeoutMs: 10_000 });
    const timer = setInterval(forward, 20);
    try {
      expect(await asked.askMany(40)).toEqual(allAnswered(40));
    } finally {
      clearInterval(timer);
    }
  });

  test('is sent again after one SERVFAIL', async () => {
    server.udpScript = failsFirst(1);
    await using asked = await AskedWorker.start([settingsOf(server)]);
    expect(await asked.askMany(4)).toEqual(allAnswered(4));
  });
});

describe('a query to two servers of which only one works', () => {
  test('is sent over TCP if the server refuses all datagrams', async () => {
    await using stream = await StreamServer.start('tcp', null, ({ bytes, reply }) =>
      reply(goodAnswer(bytes)),
    );
    await using asked = await AskedWorker.start([{ ...stream.settings, transport: 'udp' }]);
    expect(await asked.ask()).toBe(ADDRESS);
  });

  test('is sent again to a server that returned SERVFAIL once if the other server is silent', async () => {
    await using silent = await ScriptedUpstream.start();
    server.udpScript = failsFirst(1);
    await using asked = await AskedWorker.start([settingsOf(silent), settingsOf(server)], {}, 'Parallel');
    expect(await asked.ask()).toBe(ADDRESS);
  });
});

describe('a query that failed', () => {
  test('is sent again if the client repeats it a second later', async () => {
    server.udpScript = failsFirst(2);
    await using asked = await AskedWorker.start([settingsOf(server)]);
    const name = asked.newName();
    expect(await asked.ask(name)).toBe(SERVFAIL);
    const startMs = performance.now();
    // Less than 5 s, the time for which the last of several consecutive failures is cached.
    await until('an answer', async () => (await asked.ask(name)) === ADDRESS, Boolean, { pauseMs: 100 });
    expect(performance.now() - startMs).toBeLessThan(4500);
  });

  test("is answered from the upstream's late reply when the client repeats it", async () => {
    await using asked = await AskedWorker.start([settingsOf(server)], { queryTimeoutMs: 1000 });
    const name = asked.newName();
    expect(await asked.ask(name)).toBe(SERVFAIL);
    const last = server.udpQueries.at(-1)!;
    const count = server.udpQueries.length;
    last.reply(goodAnswer(last.bytes));
    // The server gets no further query.
    await until('the late answer', async () => (await asked.ask(name)) === ADDRESS);
    expect(server.udpQueries).toHaveLength(count);
  });
});

describe('a silent server listed before a working server', () => {
  test('receives only probes once its silence is detected, and delays no client', async () => {
    await using silent = await ScriptedUpstream.start();
    server.udpScript = good;
    await using asked = await AskedWorker.start([settingsOf(silent), settingsOf(server)], {
      healthCheck: {
        enabled: true,
        intervalSecs: 30,
        timeoutMs: 2000,
        failureThreshold: 3,
        successThreshold: 2,
      },
    });
    for (let i = 0; i < 50; i++) expect(await asked.ask()).toBe(ADDRESS);
    const names = new Set(silent.udpQueries.map(nameOf));
    names.delete('.');
    expect([...names]).toEqual(['n0.example.org']);
  });
});
