/** First tries of a real worker that validates: an answer without a miss has not passed the resolve thread. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { Rcode, rrTypeName } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { readTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import { MissRing } from '../../shared/memory/miss-ring.ts';
import { idOf, octets, questionOf, u16 } from '../../test/support/dns/built-messages.ts';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import { ScriptedUpstream } from '../../test/support/dns/scripted-upstream.ts';
import { positive, TestZone } from '../../test/support/dns/test-zone.ts';
import { RunningWorker } from '../../test/support/parts/running-worker.ts';
import { describeCalls } from '../../test/support/parts/system-calls.ts';
import { snapshotOf } from '../../test/support/parts/test-lists.ts';

const AD = 0x20;
const now = Math.floor(Date.now() / 1000);
const HOURS = { inception: now - 3600, expiration: now + 3600 };
const ORG = new TestZone('org');
const ZONE = new TestZone('example.org');
const signed = (records: string): string => ZONE.signed(records, HOURS);
const TABLE: Readonly<Record<string, CacheableAnswer>> = {
  'org DNSKEY': positive(ORG.signed(ORG.dnskey, HOURS)),
  'example.org DS': positive(ORG.signed(ZONE.ds, HOURS)),
  'example.org DNSKEY': positive(signed(ZONE.dnskey)),
  'first.example.org A': positive(signed('first.example.org 300 A 192.0.2.1')),
  'next.example.org A': positive(signed('next.example.org 300 A 192.0.2.2')),
  'last.example.org A': positive(signed('last.example.org 300 A 192.0.2.3')),
  'forged.example.org A': positive(
    signed('forged.example.org 300 A 192.0.2.4').replace('192.0.2.4', '192.0.2.66'),
  ),
};

let upstream: ScriptedUpstream;
let worker: RunningWorker;
let client: UdpClient;
beforeEach(async () => {
  upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => {
    const asked = questionOf(query.bytes);
    const found = TABLE[`${nameToText(asked.qname).toLowerCase()} ${rrTypeName(asked.qtype)}`];
    const counts = [1, found?.answerCount ?? 0, 0, 0].flatMap(u16);
    const question = query.bytes.slice(12, 12 + asked.qname.length + 4);
    const rcode = found?.rcode ?? Rcode.SERVFAIL;
    query.reply(octets(u16(idOf(query.bytes)), [0x81, 0x80 | rcode], counts, question, found?.body ?? []));
  };
  const dnssec = { anchors: readTrustAnchors(ORG.ds), negativeAnchors: [] };
  worker = await RunningWorker.start(snapshotOf([], {}, 1), { upstream, settings: { dnssec } });
  client = await UdpClient.open(worker.port);
  // Makes the resolve thread prove the zone.
  await client.ask('first.example.org', 'A');
});
afterEach(async () => {
  client.close();
  await worker[Symbol.asyncDispose]();
  await upstream.close();
});

function misses(): number {
  return Atomics.load(new Int32Array(worker.memory.missRing), MissRing.HEAD_WORD);
}

const asked = (name: string): string[] =>
  upstream.udpQueries
    .map(({ bytes }) => questionOf(bytes))
    .filter(({ qname }) => nameToText(qname).toLowerCase().includes(name))
    .map(
      ({ qtype, dnssecOk, checkingDisabled }) =>
        `${rrTypeName(qtype)} ${String(dnssecOk)} ${String(checkingDisabled)}`,
    );

describeCalls('FirstTries with validation', () => {
  test('answers with AD for a zone already validated as secure, with one upstream query and without the resolve thread', async () => {
    const before = misses();
    expect(before).toBe(1);
    const withProofs = await client.ask('next.example.org', 'A', { edns: { dnssecOk: true } });
    expect(withProofs).toMatchObject({ rcode: Rcode.NOERROR, data: expect.arrayContaining(['192.0.2.2']) });
    expect(withProofs.bytes[3]! & AD).toBe(AD);
    const plain = await client.ask('last.example.org', 'A', { flags: 0x0120 });
    expect([plain.data, plain.bytes[3]! & AD]).toEqual([['192.0.2.3'], AD]);
    expect(misses()).toBe(before);
    expect(asked('next')).toEqual(['A true true']);
    expect(asked('last')).toEqual(['A true true']);
  });

  test('caches a validated answer with its DNSSEC status', async () => {
    const ask = (): ReturnType<UdpClient['ask']> => client.ask('next.example.org', 'A', { flags: 0x0120 });
    await ask();
    const cached = await ask();
    expect([cached.data, cached.bytes[3]! & AD, asked('next').length]).toEqual([['192.0.2.2'], AD, 1]);
  });

  test('leaves a forged answer to the resolve thread, which queries again and returns SERVFAIL', async () => {
    const before = misses();
    expect((await client.ask('forged.example.org', 'A')).rcode).toBe(Rcode.SERVFAIL);
    expect(misses()).toBe(before + 1);
    expect(asked('forged').length).toBeGreaterThan(1);
  });

  test('sends CD upstream for a client query with CD, and does not validate the answer', async () => {
    const reply = await client.ask('forged.example.org', 'A', { flags: 0x0110 });
    expect([reply.rcode, asked('forged')]).toEqual([Rcode.NOERROR, ['A false true']]);
  });

  test('validates with the new trust anchors after they change', async () => {
    const before = misses();
    const anchors = readTrustAnchors(new TestZone('org').ds);
    for (const role of ['answer', 'resolve'] as const) worker.post(role, { type: 'trust', anchors });
    expect((await client.ask('next.example.org', 'A')).rcode).toBe(Rcode.SERVFAIL);
    expect(misses()).toBe(before + 1);
  });
});
