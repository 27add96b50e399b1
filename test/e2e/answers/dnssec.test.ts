/**
 * Validation through the whole process: answers to clients with and without DO, AD and CD, for valid and bogus zones.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/cacheable-answer.ts';
import { ExtendedError, Rcode, rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { idOf, octets, questionOf, u16 } from '../../support/dns/built-messages.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { negative, positive, TestZone } from '../../support/dns/test-zone.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { type ListServer, startListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const RD = 0x0100;
const AD = 0x0020;
const CD = 0x0010;

/** Number of questions before the last test reads the log. */
const QUESTIONS = 21;

const now = Math.floor(Date.now() / 1000);
const HOURS = { inception: now - 3600, expiration: now + 3600 };
const ROOT = new TestZone('org');
const TEST = new TestZone('example.org');
const signed = (records: string): string => TEST.signed(records, HOURS);
const SOA = 'example.org 300 SOA ns.example.org root.example.org 1 2 3 4 300';
const DENIAL = `${SOA}\nm.example.org 300 NSEC ozone.example.org A RRSIG NSEC\nexample.org 300 NSEC a.example.org SOA NS RRSIG NSEC`;
const OPEN = `${SOA}\nozone.example.org 300 NSEC p.example.org NS RRSIG NSEC`;

const TABLE: Readonly<Record<string, CacheableAnswer>> = {
  'org DNSKEY': positive(ROOT.signed(ROOT.dnskey, HOURS)),
  'example.org DS': positive(ROOT.signed(TEST.ds, HOURS)),
  'example.org DNSKEY': positive(signed(TEST.dnskey)),
  'www.example.org A': positive(signed('www.example.org 300 A 192.0.2.1')),
  'away.example.org A': positive(
    `${signed('away.example.org 300 CNAME blocked.example.org')}\n${signed('blocked.example.org 300 A 192.0.2.3')}`,
  ),
  'none.example.org A': negative(Rcode.NXDOMAIN, signed(DENIAL)),
  'old.example.org A': positive(
    TEST.signed('old.example.org 300 A 192.0.2.4', { inception: now - 14_400, expiration: now - 7200 }),
  ),
  'forged.example.org A': positive(
    signed('forged.example.org 300 A 192.0.2.5').replace('192.0.2.5', '192.0.2.66'),
  ),
  'ozone.example.org DS': negative(Rcode.NOERROR, signed(OPEN)),
  'www.ozone.example.org A': positive('www.ozone.example.org 300 A 192.0.2.6'),
  'cut.example.org A': withCutSignature(positive(signed('cut.example.org 300 A 192.0.2.8'))),
  'nta.example.org A': positive('nta.example.org 300 A 192.0.2.7'),
};

/** The answer with its last record, the signature, truncated within its fixed part. */
function withCutSignature(answer: CacheableAnswer): CacheableAnswer {
  const rdlength = 18 + 13 + 64;
  const body = answer.body.slice(0, 17 - rdlength);
  body.set(u16(17), body.length - 17 - 2);
  return { ...answer, body };
}

/**
 * Answers from the table. Signatures are sent only for queries with DO. Names that are not in the table get SERVFAIL.
 */
function answer(query: Uint8Array): Uint8Array {
  const asked = questionOf(query);
  const found = TABLE[`${nameToText(asked.qname).toLowerCase()} ${rrTypeName(asked.qtype)}`];
  const rcode = found?.rcode ?? Rcode.SERVFAIL;
  const counts = [1, found?.answerCount ?? 0, found?.authorityCount ?? 0, 0].flatMap(u16);
  const question = query.slice(12, 12 + asked.qname.length + 4);
  return octets(u16(idOf(query)), [0x81, 0x80 | rcode], counts, question, found?.body ?? []);
}

describe('weir with dns.dnssec_enabled', () => {
  const tempDir = makeTempDir();
  let upstream: ScriptedUpstream;
  let lists: ListServer;
  let weir: Weir;
  let udp: UdpClient;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    upstream.udpScript = (query) => query.reply(answer(query.bytes));
    upstream.tcpScript = upstream.udpScript;
    lists = await startListServer();
    lists.serve('/blocked.txt', 'blocked.example.org\n');
    const anchors = join(tempDir.path, 'anchors');
    writeFileSync(anchors, `${ROOT.ds}\n`);
    const pools = `[dns]
dnssec_enabled = true
dnssec_trust_anchors = ${JSON.stringify(anchors)}
dnssec_negative_trust_anchors = ["nta.example.org"]
local_records = ["good.example.com CNAME www.example.org", "bad.example.com CNAME forged.example.org"]
[[dns.pools]]
name = "zones"
servers = ["127.0.0.1:${String(upstream.port)}"]
`;
    weir = await Weir.start({ pools });
    udp = await UdpClient.open(weir.dnsPort);
  });

  afterAll(async () => {
    udp.close();
    await weir.stop();
    await lists.close();
    await upstream.close();
    tempDir.remove();
  });

  const isAuthentic = (reply: { bytes: Uint8Array }): boolean => (reply.bytes[3]! & AD) !== 0;

  test('a secure answer has AD for a query with DO or AD, from upstream and cache, and has signatures for DO', async () => {
    for (const flags of [RD, RD | AD]) {
      const reply = await udp.ask('www.example.org', 'A', { flags });
      expect(reply).toMatchObject({ data: ['192.0.2.1'] });
      expect(isAuthentic(reply)).toBe(flags !== RD);
    }
    for (let i = 0; i < 2; i++) {
      const reply = await udp.ask('www.example.org', 'A', { edns: { dnssecOk: true } });
      expect(reply.answers.map(({ type }) => type)).toEqual(['A', 'RRSIG']);
      expect(isAuthentic(reply)).toBe(true);
    }
  });

  test('a negative answer is validated; a query with DO gets the proofs', async () => {
    const plain = await udp.ask('none.example.org', 'A', { flags: RD | AD });
    expect(plain).toMatchObject({ rcode: Rcode.NXDOMAIN });
    expect(plain.authorities.map(({ type }) => type)).toEqual(['SOA']);
    expect(isAuthentic(plain)).toBe(true);
    const withDo = await udp.ask('none.example.org', 'A', { edns: { dnssecOk: true } });
    expect(withDo.authorities.map(({ type }) => type).sort()).toEqual([
      'NSEC',
      'NSEC',
      'RRSIG',
      'RRSIG',
      'RRSIG',
      'SOA',
    ]);
  });

  test.each([
    ['old.example.org', ExtendedError.SIGNATURE_EXPIRED],
    ['forged.example.org', ExtendedError.DNSSEC_BOGUS],
  ])('%s is SERVFAIL with extended error %d, and its data for CD=1', async (name, extendedError) => {
    for (let i = 0; i < 2; i++) {
      const reply = await udp.ask(name, 'A', { edns: {} });
      expect(reply).toMatchObject({ rcode: Rcode.SERVFAIL, data: [], extendedErrors: [extendedError] });
    }
    const unchecked = await udp.ask(name, 'A', { flags: RD | CD });
    expect(unchecked).toMatchObject({ rcode: Rcode.NOERROR });
    expect(unchecked.answers[0]).toMatchObject({ type: 'A' });
    expect(isAuthentic(unchecked)).toBe(false);
  });

  test('an answer with a truncated signature is not relayed, because a client could not parse it', async () => {
    for (const flags of [RD, RD | CD]) {
      const reply = await udp.ask('cut.example.org', 'A', { flags, edns: { dnssecOk: true } });
      expect(reply).toMatchObject({ rcode: Rcode.SERVFAIL, answers: [] });
    }
  });

  test.each(['www.ozone.example.org', 'nta.example.org'])(
    '%s, which has no signatures, is answered without AD',
    async (name) => {
      const reply = await udp.ask(name, 'A', { flags: RD | AD });
      expect(reply).toMatchObject({ rcode: Rcode.NOERROR });
      expect(isAuthentic(reply)).toBe(false);
    },
  );

  test('a blocked answer has no AD, even if it was secure (CVE-2026-50243)', async () => {
    const api = await weir.api();
    await api.addSource({ name: 'blocked', url: lists.url('/blocked.txt') });
    for (let i = 0; i < 2; i++) {
      const reply = await udp.ask('away.example.org', 'A', { flags: RD | AD });
      expect(reply).toMatchObject({ data: ['0.0.0.0'] });
      expect(isAuthentic(reply)).toBe(false);
    }
  });

  test('a local alias has no AD, and the content of a bogus target is not relayed (CVE-2026-50243)', async () => {
    for (let i = 0; i < 2; i++) {
      const good = await udp.ask('good.example.com', 'A', { flags: RD | AD });
      expect(good.data.at(-1)).toBe('192.0.2.1');
      expect(isAuthentic(good)).toBe(false);
    }
    expect(await udp.ask('bad.example.com', 'A')).toMatchObject({ rcode: Rcode.SERVFAIL, data: [] });
  });

  test('the query log has the DNSSEC status of each answer', async () => {
    const api = await weir.api();
    await api.untilQueryCount(QUESTIONS);
    await expect(api.queryCount('domain=old.example.org&dnssec=bogus')).resolves.toBe(2);
    await expect(api.queryCount('domain=old.example.org&dnssec=unchecked')).resolves.toBe(1);
    await expect(api.queryCount('domain=www.example.org&dnssec=secure')).resolves.toBe(4);
    await expect(api.queryCount('domain=good.example.com&dnssec=secure')).resolves.toBe(2);
    await expect(api.queryCount('domain=bad.example.com&dnssec=bogus')).resolves.toBe(1);
    await expect(api.queryCount('domain=ozone.example.org&dnssec=insecure')).resolves.toBe(1);
  });
});
