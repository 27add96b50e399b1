/** A node with several workers sends each question to the upstreams once, whichever worker received it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { a, idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { Reply } from '../../support/dns/dns-message.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

const NODES = BACK_ENDS.flatMap((backEnd) => [3, 8].map((workers) => [backEnd, workers] as const));
/** Enough clients for the kernel to spread over the sockets of all workers. */
const CLIENTS = 48;
const ADDRESS = '192.0.2.1';
/** The time-out is longer than the retransmission time, so that a claim that is never released fails the test. */
const TOML = '[dns]\nquery_timeout_ms = 30000\n';

/**
 * Maximum number of times that a node may send a question: once, and again from another port if a busy machine delays
 * the answer. Workers that do not share a question send it at least three times.
 */
const MAX_COPIES = 2;

/** Unanswered questions, without repeated queries. */
const open = new Map<string, ReceivedQuery>();
/** TTL of each sent answer, by the keys of `open`, to answer repeated queries in the same way. */
const answered = new Map<string, number>();
let asked = 0;
let upstream: ScriptedUpstream;

function firstLabel({ bytes }: ReceivedQuery): string {
  const { qname } = questionOf(bytes);
  return Buffer.from(qname.subarray(1, 1 + qname[0]!))
    .toString('latin1')
    .toLowerCase();
}

function reply(query: ReceivedQuery, ttl: number): void {
  const answers = [a(Uint8Array.of(0xc0, 12), ADDRESS, ttl)];
  query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
}

beforeAll(async () => {
  upstream = await ScriptedUpstream.start();
  // Names that start with "held" are answered when the test decides; all others are markers, which are answered
  // immediately.
  upstream.udpScript = (query) => {
    if (!firstLabel(query).startsWith('held')) {
      reply(query, 60);
      return;
    }
    const key = `${String(query.port)} ${String(idOf(query.bytes))}`;
    const ttl = answered.get(key);
    if (ttl !== undefined) return reply(query, ttl);
    if (!open.has(key)) asked++;
    open.set(key, query);
  };
});
afterAll(() => upstream.close());
afterEach(() => {
  open.clear();
  answered.clear();
  asked = 0;
});

function answerAll(ttl: number): void {
  for (const [key, query] of open) {
    answered.set(key, ttl);
    reply(query, ttl);
  }
  open.clear();
}

/** Answers every question that arrives at the upstream until all clients have their replies. */
async function answerUntilReplied(replies: readonly Promise<Reply>[], ttl: number): Promise<void> {
  let left = replies.length;
  for (const each of replies) void each.finally(() => left--).catch(() => undefined);
  await until(
    'replies to all clients',
    () => {
      answerAll(ttl);
      return { left, open: open.size };
    },
    () => left === 0,
  );
}

describe.each(NODES)('weir with back end %s and %i workers', (backEnd, workers) => {
  let weir: Weir;
  let clients: UdpClient[] = [];
  let serial = 0;

  beforeAll(async () => {
    const env = { WEIR_SERVER_WORKERS: String(workers) };
    weir = await Weir.start({
      backEnd,
      env,
      toml: TOML,
      database: 'none',
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
    });
    clients = await Promise.all(Array.from({ length: CLIENTS }, () => UdpClient.open(weir.dnsPort)));
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  /** Sends the question from every client; resolves when every worker has it. */
  async function askFromEverywhere(name: string): Promise<Promise<Reply>[]> {
    const replies = clients.map((client) => client.ask(name, 'A'));
    for (const each of replies) each.catch(() => undefined); // Awaited later.
    // A worker reads a client's questions in order.
    const marker = `marker-${backEnd}-${String(serial++)}`;
    await Promise.all(clients.map((client, i) => client.ask(`${marker}-${String(i)}.example.com`, 'A')));
    await until('a question at the upstream', () => open.size);
    return replies;
  }

  test('sends one upstream query for identical queries, and answers the clients of every worker', async () => {
    const replies = await askFromEverywhere(`held-kept-${backEnd}.example.com`);
    expect(open.size).toBeLessThanOrEqual(MAX_COPIES);
    answerAll(3600);
    const all = await Promise.all(replies);
    expect(all.map(({ data }) => data[0])).toEqual(Array<string>(CLIENTS).fill(ADDRESS));
    expect(asked).toBeLessThanOrEqual(MAX_COPIES);
  });

  test('sends one upstream query for an uncacheable answer, and answers the clients of every worker', async () => {
    const replies = await askFromEverywhere(`held-fleeting-${backEnd}.example.com`);
    await answerUntilReplied(replies, 0);
    expect((await Promise.all(replies)).map(({ data }) => data[0])).toEqual(
      Array<string>(CLIENTS).fill(ADDRESS),
    );
    expect(asked).toBeLessThanOrEqual(MAX_COPIES);
  });

  test('answers repeated queries whose first copies were lost with a dead resolve thread', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `held-orphan${String(i)}-${backEnd}.example.com`);
    const lost: Promise<Reply>[] = [];
    for (const name of names) lost.push(...(await askFromEverywhere(name)));
    expect(lost).toHaveLength(names.length * CLIENTS);
    const before = weir.replacedThreads;
    for (let worker = 0; worker < workers - 1; worker++) weir.injectFault(worker, 'resolve', 'exit');
    await until(
      `${String(workers - 1)} threads to be replaced`,
      () => weir.replacedThreads - before,
      (count) => count === workers - 1,
    );
    await weir.untilHealth(({ checks }) => checks.dns.status === 'ok');
    // Queries that the ended threads had sent are lost, but their claims do not prevent other threads from sending the
    // same queries.
    const again = names.flatMap((name) => clients.map((client) => client.ask(name, 'A')));
    await answerUntilReplied(again, 3600);
    expect((await Promise.all(again)).every(({ data }) => data[0] === ADDRESS)).toBe(true);
  });
});
