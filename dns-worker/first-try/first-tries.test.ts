/** First tries of a real worker: an answer without a miss has not passed the resolve thread. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { MissRing } from '../../shared/memory/miss-ring.ts';
import { LogRing } from '../../shared/query-log.ts';
import type { UpstreamReport, WorkerSettings } from '../../shared/threads/messages.ts';
import { a, cname, idOf, questionOf, response } from '../../test/support/dns/built-messages.ts';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import type { Reply } from '../../test/support/dns/dns-message.ts';
import {
  baking,
  cookieOf,
  foldingCase,
  good,
  isMixed,
  nameIn,
} from '../../test/support/dns/odd-upstreams.ts';
import { answersWith, fails } from '../../test/support/dns/scripted-server.ts';
import {
  type ReceivedQuery,
  type Script,
  ScriptedUpstream,
} from '../../test/support/dns/scripted-upstream.ts';
import { createNodeMemory, RunningWorker, settingsOf } from '../../test/support/parts/running-worker.ts';
import { describeCalls } from '../../test/support/parts/system-calls.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';
import { until } from '../../test/support/parts/until.ts';

const EMPTY = snapshotOf([], {}, 1);
const NAME = 'held-name-with-many-letters.example';
const GOOD = ['192.0.2.9'];
/** Compression pointer to the name of the question. */
const QNAME = Uint8Array.of(0xc0, 12);
const ON = { cookies: 'on', caseRandomization: 'on' } as const;

let upstream: ScriptedUpstream;
/** Queries for `NAME` that wait for `release`. */
let held: ReceivedQuery[];
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  upstream = await ScriptedUpstream.start();
  held = [];
  upstream.udpScript = good;
  closing.push(() => upstream.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Keeps queries for `NAME` waiting; queries for other names are answered. */
const hold: Script = (query, index) => {
  if (isForName(query)) held.push(query);
  else good(query, index);
};

const isForName = (query: ReceivedQuery): boolean => nameIn(query).toLowerCase().includes('held-name');

/** Answers the first query with this script, and all others correctly. */
function firstly(script: Script): Script {
  return (query, index) => (index === 0 ? script(query, index) : good(query, index));
}

async function start(
  settings: Partial<WorkerSettings> = {},
  node?: { memory: ReturnType<typeof createNodeMemory>; worker: number },
): Promise<RunningWorker> {
  const worker = await RunningWorker.start(EMPTY, { upstream, settings, ...(node && { node }) });
  closing.push(() => worker[Symbol.asyncDispose]());
  return worker;
}

async function clientOf({ port }: RunningWorker, address?: string): Promise<UdpClient> {
  const client = await UdpClient.open(port, address);
  closing.push(() => client.close());
  return client;
}

function missesOf({ memory }: RunningWorker): number {
  return Atomics.load(new Int32Array(memory.missRing), MissRing.HEAD_WORD);
}

function rowsOf(log: SharedArrayBuffer): number {
  return Atomics.load(new Int32Array(log), LogRing.HEAD_WORD);
}

/** The worker's last report about the server. */
function reportOf({ messages }: RunningWorker): UpstreamReport | undefined {
  const reports = messages.resolve.flatMap((message) =>
    message.type === 'upstreams' ? [message.upstreams] : [],
  );
  return reports.at(-1)?.pools[0];
}

/** Waits until this many queries for `NAME` wait at the upstream. */
const heldBy = (count: number): Promise<ReceivedQuery[]> =>
  until(
    'the questions to wait',
    () => held,
    ({ length }) => length >= count,
  );

/** Answers the waiting queries, and later queries. */
function release(script: Script = good): void {
  upstream.udpScript = script;
  for (const query of held.splice(0)) script(query, 0);
}

const dataOf = (replies: readonly Reply[]): unknown[] => replies.map(({ data }) => data);

describeCalls('FirstTries, the upstream queries of an answer thread,', () => {
  test('queries an upstream, answers, caches and logs without the resolve thread', async () => {
    const worker = await start();
    const client = await clientOf(worker);
    expect((await client.ask('www.example', 'A')).data).toEqual(GOOD);
    expect((await client.ask('www.example', 'A')).data).toEqual(GOOD);
    await until(
      'the rows to be logged',
      () => rowsOf(worker.memory.answerLog),
      (rows) => rows === 2,
    );
    expect([missesOf(worker), rowsOf(worker.memory.resolveLog)]).toEqual([0, 0]);
    expect(upstream.udpQueries).toHaveLength(1);
  });

  test('counts its queries and their latencies in the upstream report', async () => {
    const worker = await start();
    const client = await clientOf(worker);
    for (const name of ['a.example', 'b.example']) await client.ask(name, 'A');
    const report = await until(
      'the questions to be counted',
      () => reportOf(worker),
      (last) => last?.queries === 2 && last.latenciesMs.length === 2,
    );
    expect(report).toMatchObject({ failures: 0, status: 'Healthy' });
    expect(report!.latencyCounts.counts.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(missesOf(worker)).toBe(0);
  });

  test('sends one upstream query for identical queries of several clients', async () => {
    upstream.udpScript = hold;
    const worker = await start();
    const clients = [await clientOf(worker), await clientOf(worker), await clientOf(worker)];
    const replies = clients.map((client) => client.ask(NAME, 'A'));
    // Datagrams are received in the order of their arrival.
    for (const client of clients) await client.ask('marker.example', 'A');
    release();
    expect(dataOf(await Promise.all(replies))).toEqual([GOOD, GOOD, GOOD]);
    expect(upstream.udpQuestions.filter(isForName)).toHaveLength(1);
    expect(missesOf(worker)).toBe(0);
  });

  test.each([300, 0])(
    'sends one upstream query for identical queries of two workers (TTL %i)',
    async (ttl) => {
      upstream.udpScript = hold;
      const memory = createNodeMemory(2);
      const workers = [await start({}, { memory, worker: 0 }), await start({}, { memory, worker: 1 })];
      const clients = [await clientOf(workers[0]!), await clientOf(workers[1]!)];
      const first = clients[0]!.ask(NAME, 'A');
      await heldBy(1);
      const second = clients[1]!.ask(NAME, 'A');
      await until('the question to wait for the other worker', () => missesOf(workers[1]!));
      release(answersWith({ answers: [a(QNAME, '192.0.2.9', ttl)] }));
      expect(dataOf(await Promise.all([first, second]))).toEqual([GOOD, GOOD]);
      // On a busy machine the first try may time out before the release; then the resolve thread sends the query once
      // more.
      expect(upstream.udpQuestions.filter(isForName)).toHaveLength(1 + missesOf(workers[0]!));
    },
  );

  const passedOn: [string, Script][] = [
    ['SERVFAIL', fails(Rcode.SERVFAIL)],
    ['REFUSED', fails(Rcode.REFUSED)],
    ['FORMERR', fails(Rcode.FORMERR)],
    ['a malformed reply', ({ bytes, reply }) => reply(malformed(bytes))],
    ['an alias without its target', answersWith({ answers: [cname(NAME, 'target.example')] })],
  ];
  test.each(passedOn)('leaves a query to the resolve thread after %s', async (_what, script) => {
    upstream.udpScript = firstly(script);
    const worker = await start();
    const client = await clientOf(worker);
    const reply = await client.ask(NAME, 'A');
    expect([reply.rcode, reply.data.at(-1)]).toEqual([Rcode.NOERROR, GOOD[0]]);
    expect(missesOf(worker)).toBe(1);
  });

  test('leaves a truncated answer to the resolve thread, which queries over TCP at once', async () => {
    upstream.udpScript = answersWith({ flags: 0x8380 });
    upstream.tcpScript = good;
    const worker = await start();
    const client = await clientOf(worker);
    expect((await client.ask(NAME, 'A')).data).toEqual(GOOD);
    expect([upstream.udpQuestions.length, upstream.tcpQueries.length]).toEqual([1, 1]);
  });

  test('queries the next server when the first is silent', async () => {
    await using silent = await ScriptedUpstream.start();
    const servers = [silent, upstream].map(({ ip, port }) => ({
      address: `udp://${ip}:${String(port)}`,
      transport: 'udp' as const,
      host: ip,
      port,
    }));
    const worker = await start({ pools: [{ name: 'pool', strategy: 'Failover', priority: 1, servers }] });
    const client = await clientOf(worker);
    expect((await client.ask(NAME, 'A')).data).toEqual(GOOD);
    expect(silent.udpQueries.length).toBeGreaterThan(0);
    expect(missesOf(worker)).toBe(1);
  });

  test('uses TCP after a reply with a wrong ID on its port, and accepts no later reply on that port', async () => {
    upstream.udpScript = ({ bytes, reply }) => {
      const forged = response(questionOf(bytes), {
        id: idOf(bytes) ^ 1,
        answers: [a(QNAME, '192.0.2.66')],
      });
      reply(forged);
    };
    upstream.tcpScript = good;
    const worker = await start();
    const client = await clientOf(worker);
    expect((await client.ask(NAME, 'A')).data).toEqual(GOOD);
    expect(missesOf(worker)).toBe(1);
    expect(upstream.tcpQueries).toHaveLength(1);
  });

  test('keeps waiting after a reply to a different question', async () => {
    upstream.udpScript = (query, index) => {
      const other = { ...questionOf(query.bytes), qtype: 28 };
      query.reply(response(other, { id: idOf(query.bytes) }));
      good(query, index);
    };
    const worker = await start();
    const client = await clientOf(worker);
    expect((await client.ask(NAME, 'A')).data).toEqual(GOOD);
    expect(missesOf(worker)).toBe(0);
  });

  test('with hardening, sends mixed case and a cookie, and accepts the reply that echoes both', async () => {
    upstream.udpScript = baking;
    const worker = await start({ hardening: ON });
    const client = await clientOf(worker);
    expect((await client.ask(NAME, 'A')).data).toEqual(GOOD);
    const [asked] = upstream.udpQueries;
    expect([isMixed(asked!), cookieOf(asked!).length]).toEqual([true, 8]);
    expect(missesOf(worker)).toBe(0);
  });

  test('rejects a reply that does not echo the mixed case', async () => {
    upstream.udpScript = foldingCase;
    upstream.tcpScript = good;
    const worker = await start({ hardening: { cookies: 'off', caseRandomization: 'on' } });
    const client = await clientOf(worker);
    expect((await client.ask(NAME, 'A')).data).toEqual(GOOD);
    expect(missesOf(worker)).toBe(1);
  });

  test('blocks an answer whose name is blocked while the query is in flight', async () => {
    upstream.udpScript = hold;
    const worker = await start();
    const client = await clientOf(worker);
    const reply = client.ask(NAME, 'A');
    await heldBy(1);
    const reading = { kind: 'block', subdomains: false } as const;
    const snapshot = snapshotOf([{ text: `||${NAME}^`, reading }], {}, 2);
    for (const role of ['answer', 'resolve'] as const) worker.post(role, { type: 'snapshot', snapshot });
    await until('the snapshot to be active', () =>
      (['answer', 'resolve'] as const).every((role) =>
        worker.messages[role].some((message) => message.type === 'snapshot-active' && message.version === 2),
      ),
    );
    release();
    expect((await reply).data).toEqual(['0.0.0.0']);
  });

  test('uses a late answer of a removed server without caching it or counting it for the new server', async () => {
    upstream.udpScript = hold;
    await using other = await ScriptedUpstream.start();
    other.udpScript = answersWith({ answers: [a(QNAME, '192.0.2.8')] });
    const memory = createNodeMemory(1);
    const worker = await start({}, { memory, worker: 0 });
    const client = await clientOf(worker);
    const reply = client.ask(NAME, 'A');
    await heldBy(1);
    const given = {
      version: 1,
      settings: settingsOf(worker.port, other),
      rateBuckets: memory.rateBucketsFor(false),
    };
    for (const role of ['resolve', 'answer'] as const) worker.post(role, { type: 'settings', given });
    await until('the settings to be active', () =>
      (['answer', 'resolve'] as const).every((role) =>
        worker.messages[role].some((message) => message.type === 'settings-active' && message.version === 1),
      ),
    );
    release();
    expect((await reply).data).toHaveLength(1);
    expect((await client.ask(NAME, 'A')).data).toEqual(['192.0.2.8']);
    const report = await until(
      'the question to be counted',
      () => reportOf(worker),
      (last) => last?.latenciesMs.length === other.udpQuestions.length,
    );
    expect(report!.queries).toBe(other.udpQuestions.length);
  });

  test('leaves queries in flight to the resolve thread when it drains', async () => {
    upstream.udpScript = hold;
    const worker = await start();
    const client = await clientOf(worker);
    const reply = client.ask(NAME, 'A');
    await heldBy(1);
    held.length = 0;
    worker.post('answer', { type: 'drain', keepSockets: false, withinMs: 3500 });
    await heldBy(1);
    release();
    expect((await reply).data).toEqual(GOOD);
    expect(missesOf(worker)).toBe(1);
  });

  test('sends an upstream query for each client query if the cache is disabled', async () => {
    const worker = await start();
    const { cache } = settingsOf(worker.port, upstream);
    const uncached = await start({ cache: { ...cache, enabled: false } });
    const client = await clientOf(uncached);
    for (let i = 0; i < 2; i++) expect((await client.ask(NAME, 'A')).data).toEqual(GOOD);
    expect(upstream.udpQuestions).toHaveLength(2);
    expect(missesOf(uncached)).toBe(0);
  });

  test('sends DO and CD upstream only if the client sent them', async () => {
    const worker = await start();
    const client = await clientOf(worker);
    await client.ask('do.example', 'A', { edns: { dnssecOk: true } });
    await client.ask('cd.example', 'A', { flags: 0x0110 });
    await client.ask('plain.example', 'A');
    const flags = upstream.udpQueries.map(({ bytes }) => questionOf(bytes));
    expect(flags).toMatchObject([
      { dnssecOk: true, checkingDisabled: false },
      { dnssecOk: false, checkingDisabled: true },
      { dnssecOk: false, checkingDisabled: false },
    ]);
    expect(missesOf(worker)).toBe(0);
  });

  test('replies from the address that the client queried', async () => {
    const worker = await start({ bindAddresses: ['0.0.0.0'] });
    const client = await clientOf(worker, '127.0.0.2');
    const reply = await client.ask(NAME, 'A');
    expect([reply.data, reply.from]).toEqual([GOOD, '127.0.0.2']);
    expect(missesOf(worker)).toBe(0);
  });

  test('truncates an answer to the size that each waiting client accepts', async () => {
    upstream.udpScript = hold;
    const worker = await start();
    const clients = [await clientOf(worker), await clientOf(worker)];
    const replies = [clients[0]!.ask(NAME, 'A'), clients[1]!.ask(NAME, 'A', { edns: { udpSize: 1232 } })];
    for (const client of clients) await client.ask('marker.example', 'A');
    const answers = Array.from({ length: 50 }, (_, i) => a(QNAME, `192.0.2.${String(i)}`));
    release(answersWith({ answers }));
    const [short, long] = await Promise.all(replies);
    expect([short!.truncated, short!.bytes.length <= 512]).toEqual([true, true]);
    expect([long!.truncated, long!.answers.length]).toEqual([false, 50]);
  });

  test('adds a server cookie to the reply if the client sent a cookie', async () => {
    const worker = await start();
    const client = await clientOf(worker);
    const cookie = new Uint8Array(8).fill(7);
    const reply = await client.ask(NAME, 'A', { edns: { cookie } });
    expect(reply.cookie?.subarray(0, 8)).toEqual(cookie);
    expect(reply.cookie).toHaveLength(24);
    expect(missesOf(worker)).toBe(0);
  });
});

/** A reply whose answer section ends too early. */
function malformed(asked: Uint8Array): Uint8Array {
  const whole = response(questionOf(asked), { id: idOf(asked), answers: [a(QNAME, '192.0.2.66')] });
  return whole.subarray(0, whole.length - 3);
}
