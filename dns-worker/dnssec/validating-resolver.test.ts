/** Validation from end to end with zones created by the test: `.`, `test`, and zones below. */
import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { readU32 } from '../../shared/dns/wire.ts';
import { octets, question, response, u16, wireName } from '../../test/support/dns/built-messages.ts';
import { negative, positive, TestZone } from '../../test/support/dns/test-zone.ts';
import {
  bogus,
  CHILD,
  insecure,
  secure,
  SOA,
  ROOT,
  TEST,
  type ValidationFixture,
  validationFixture as fixture,
} from '../../test/support/dns/validation-fixture.ts';
import fc from '../../test/support/parts/fast-check.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import type { Resolution } from '../resolve/resolution.ts';
import { readResponse } from '../resolve/response/response-reader.ts';
import { readRRsets } from './answer-records.ts';

function signaturesIn(resolution: Resolution, name: string): number {
  if (resolution.kind !== 'answer') throw new Error('there is no answer');
  return readRRsets(wireName(name), resolution.answer).reduce((sum, set) => sum + set.signatures.length, 0);
}

describe('ValidatingResolver', () => {
  test('an alias without its target is validated alone, and the result reports that the target is missing', async () => {
    const { ask, table } = fixture();
    const answerTo = (records: string): CacheableAnswer => {
      const asked = question('on.test', 'A', { dnssecOk: true });
      const { answerCount, body } = positive(records);
      const image = octets(response(asked), body);
      image.set(u16(answerCount), 6);
      const reading = readResponse(image, asked);
      if (reading.kind !== 'answer') throw new Error('there is no answer');
      return reading.answer;
    };
    const alias = 'on.test 300 CNAME www.open.test';
    const leftOut = { target: wireName('www.open.test'), hops: 1 };
    table.on('on.test', 'A', answerTo(TEST.signed(alias)));
    for (const dnssecOk of [false, true])
      expect(await ask('on.test', 'A', { dnssecOk })).toMatchObject({
        ...secure,
        answer: { negative: false, leftOut },
      });
    table.on('on.test', 'A', answerTo(TEST.signed(alias).replace('www.open.test', 'evil.open.test')));
    expect(await ask('on.test', 'A')).toMatchObject({ reason: 'bogus' });
  });

  test('an answer with a chain from the root is secure; clients get signatures only if they set DO', async () => {
    const { ask, table } = fixture();
    const plain = await ask('www.test', 'A');
    expect(plain).toMatchObject({
      ...secure,
      answer: { answerCount: 1, authorityCount: 0, negative: false },
    });
    expect(signaturesIn(plain, 'www.test')).toBe(0);
    expect(table.asked.every(({ dnssecOk, checkingDisabled }) => dnssecOk && checkingDisabled)).toBe(true);
    const withDo = await ask('www.test', 'A', { dnssecOk: true });
    expect(signaturesIn(withDo, 'www.test')).toBe(1);
  });

  test('TTLs are limited to the remaining validity of the signature (RFC 4035 section 5.3.3)', async () => {
    const { ask, table, clock } = fixture();
    const records = TEST.signed('www.test 300 A 192.0.2.1', { expiration: clock.secs + 40 });
    table.on('www.test', 'A', positive(records.replaceAll(' 300 A ', ' 3000 A ')));
    const resolution = await ask('www.test', 'A', { dnssecOk: true });
    if (resolution.kind !== 'answer') throw new Error('there is no answer');
    expect(resolution.answer.minTtlSecs).toBe(40);
    const { body, ttlOffsets } = resolution.answer;
    expect(Array.from(ttlOffsets, (at) => readU32(body, at))).toEqual([40, 40]);
  });

  test('an unsigned answer is insecure below a provably unsigned delegation, and bogus elsewhere (blocky GHSA-x845-2f78-7v36)', async () => {
    const { ask, table } = fixture();
    expect(await ask('www.open.test', 'A')).toMatchObject(insecure);
    table.on('www.test', 'A', positive('www.test 300 A 192.0.2.66'));
    table.on(
      'www.test',
      'DS',
      negative(Rcode.NOERROR, TEST.signed(`${SOA}\nwww.test 300 NSEC x.test A RRSIG NSEC`)),
    );
    expect(await ask('www.test', 'A')).toMatchObject(bogus(ExtendedError.RRSIGS_MISSING));
  });

  test('a missing DS without proof does not make a zone insecure (blocky GHSA-x845-2f78-7v36)', async () => {
    const { ask, table } = fixture();
    table.on('child.test', 'DS', negative(Rcode.NOERROR, TEST.signed(SOA)));
    table.on('www.child.test', 'A', positive('www.child.test 300 A 192.0.2.66'));
    expect(await ask('www.child.test', 'A')).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
  });

  test('a zone with DS records for both a known and an unknown algorithm is bogus without signatures (Technitium 14.0)', async () => {
    const unknown = `test 300 DS 1 99 2 ${'AB'.repeat(32)}`;
    const other = 'test 300 DNSKEY 257 3 99 AQID';
    const unsigned = positive('www.test 300 A 192.0.2.66');
    const { ask, table } = fixture();
    table.on('test', 'DS', positive(ROOT.signed(`${TEST.ds}\n${unknown}`)));
    table.on('test', 'DNSKEY', positive(TEST.signed(`${TEST.dnskey}\n${other}`)));
    const noDelegation = TEST.signed(`${SOA}\nwww.test 300 NSEC x.test A RRSIG NSEC`);
    table.on('www.test', 'A', unsigned).on('www.test', 'DS', negative(Rcode.NOERROR, noDelegation));
    expect(await ask('www.test', 'A')).toMatchObject(bogus(ExtendedError.RRSIGS_MISSING));
    const [record, genuine] = TEST.signed('www.test 300 A 192.0.2.66').split('\n');
    table.on('www.test', 'A', positive(`${record!}\n${genuine!.replace(' A 15 ', ' A 99 ')}`));
    expect(await ask('www.test', 'A')).toMatchObject({ reason: 'bogus' });
    table.on('www.test', 'A', positive(`${record!}\n${genuine!}`));
    expect(await ask('www.test', 'A')).toMatchObject(secure);
    // Without a usable key of the zone, nothing can be proven.
    const alone = fixture();
    alone.table.on('test', 'DS', positive(ROOT.signed(unknown))).on('www.test', 'A', unsigned);
    expect(await alone.ask('www.test', 'A')).toMatchObject(insecure);
  });

  test('a signature by a key that is not in the DNSKEY RRset of the child zone is bogus', async () => {
    const { ask, table } = fixture();
    table.on(
      'www.child.test',
      'A',
      positive(new TestZone('child.test').signed('www.child.test 300 A 192.0.2.66')),
    );
    expect(await ask('www.child.test', 'A')).toMatchObject(bogus(ExtendedError.DNSKEY_MISSING));
    table.on('www.child.test', 'A', positive(CHILD.signed('www.child.test 300 A 192.0.2.66')));
    expect(await ask('www.child.test', 'A')).toMatchObject(secure);
  });

  test.each([
    ['an alias', 'away.test 300 CNAME www.open.test'],
    ['a DNAME', 'away.test 300 DNAME open.test'],
  ])('%s from a signed into an unsigned zone is insecure', async (what, record) => {
    const { ask, table } = fixture();
    const name = what === 'an alias' ? 'away.test' : 'www.away.test';
    const alias = what === 'an alias' ? '' : '\nwww.away.test 300 CNAME www.open.test';
    table.on(name, 'A', positive(`${TEST.signed(record)}${alias}\nwww.open.test 300 A 192.0.2.2`));
    expect(await ask(name, 'A')).toMatchObject(insecure);
  });

  test('a CNAME that does not match the DNAME next to it is bogus', async () => {
    const { ask, table } = fixture();
    const dname = TEST.signed('away.test 300 DNAME open.test');
    const alias = 'www.away.test 300 CNAME evil.open.test';
    table.on('www.away.test', 'A', positive(`${dname}\n${alias}\nevil.open.test 300 A 192.0.2.2`));
    table.on(
      'away.test',
      'DS',
      negative(Rcode.NOERROR, TEST.signed(`${SOA}\naway.test 300 NSEC b.test DNAME RRSIG NSEC`)),
    );
    table.on('www.away.test', 'DS', positive(`${dname}\nwww.away.test 300 CNAME www.open.test`));
    expect(await ask('www.away.test', 'A')).toMatchObject(bogus(ExtendedError.RRSIGS_MISSING));
  });

  test("a wildcard answer needs a proof that no closer name exists, from the wildcard's own zone (CVE-2017-15107)", async () => {
    const { ask, table } = fixture();
    const records = TEST.signed('a.w.test 300 A 192.0.2.4', { labels: 2 });
    const proof = '*.w.test 300 NSEC x.test A RRSIG NSEC';
    table.on('a.w.test', 'A', positive(records, TEST.signed(proof)));
    expect(await ask('a.w.test', 'A')).toMatchObject(secure);
    table.on('a.w.test', 'A', positive(records));
    expect(await ask('a.w.test', 'A')).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
    const expanded = TEST.signed('0.w.test 300 NSEC x.test A RRSIG NSEC', { labels: 2 });
    table.on('a.w.test', 'A', positive(records, expanded));
    expect(await ask('a.w.test', 'A')).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
  });

  test('a nonexistent name must be denied by its own zone', async () => {
    const { ask, table } = fixture();
    const nsec = `${SOA}\nm.test 300 NSEC o.test A RRSIG NSEC\ntest 300 NSEC a.test SOA NS RRSIG NSEC`;
    table.on('no.test', 'A', negative(Rcode.NXDOMAIN, TEST.signed(nsec)));
    expect(await ask('no.test', 'A')).toMatchObject({ ...secure, answer: { authorityCount: 1 } });
    expect(await ask('no.test', 'A', { dnssecOk: true })).toMatchObject({
      ...secure,
      answer: { authorityCount: 6 },
    });
    table.on('no.test', 'A', negative(Rcode.NXDOMAIN, TEST.signed(SOA)));
    table.on('no.test', 'DS', negative(Rcode.NXDOMAIN, TEST.signed(nsec)));
    expect(await ask('no.test', 'A')).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
  });

  test('a bogus answer is replaced by the valid answer of a second server', async () => {
    const { ask, table } = fixture();
    const good = positive(TEST.signed('www.test 300 A 192.0.2.1'));
    table.on('www.test', 'A', positive('www.test 300 A 192.0.2.1'), good);
    table.on(
      'www.test',
      'DS',
      negative(Rcode.NOERROR, TEST.signed(`${SOA}\nwww.test 300 NSEC x.test A RRSIG NSEC`)),
    );
    expect(await ask('www.test', 'A')).toMatchObject(secure);
  });

  test('a query with CD=1 is not validated', async () => {
    const { ask, table } = fixture();
    table.on('www.test', 'A', positive('www.test 300 A 192.0.2.66'));
    const resolution = await ask('www.test', 'A', { checkingDisabled: true });
    expect(resolution).toMatchObject({ kind: 'answer' });
    expect(resolution.dnssec).toBeUndefined();
    expect(table.asked).toMatchObject([{ checkingDisabled: true, dnssecOk: false }]);
  });

  test("a client subnet is sent only with the client's query, not with key queries; the scope of the answer is returned", async () => {
    const { ask, table } = fixture();
    const ecs = Uint8Array.of(0, 1, 24, 0, 198, 51, 100);
    table.on('www.test', 'A', { ...positive(TEST.signed('www.test 300 A 192.0.2.1')), ecsScope: 20 });
    expect(await ask('www.test', 'A', { ecs })).toMatchObject({ ...secure, answer: { ecsScope: 20 } });
    const others = table.asked.filter((asked) => asked.ecs !== ecs);
    expect(table.asked.length - others.length).toBe(1);
    expect(others.map((asked) => asked.ecs)).toEqual(others.map(() => null));
    expect(others.length).toBeGreaterThan(0);
  });

  test('an answer with random byte changes throws no error, and is secure only with the signed data', async () => {
    const genuine = positive(
      TEST.signed('www.test 300 A 192.0.2.1\nwww.test 300 A 192.0.2.2'),
      TEST.signed(SOA),
    );
    const asked = question('www.test', 'A', { dnssecOk: true });
    const counts = [1, genuine.answerCount, genuine.authorityCount, 0].flatMap(u16);
    const message = octets(
      [0, 0, 0x81, 0x80],
      counts,
      asked.qname,
      u16(asked.qtype),
      u16(asked.qclass),
      genuine.body,
    );
    const bodyAt = message.length - genuine.body.length;
    const { ask, table, logger } = fixture();
    table.on(
      'www.test',
      'DS',
      negative(Rcode.NOERROR, TEST.signed(`${SOA}\nwww.test 300 NSEC x.test A RRSIG NSEC`)),
    );
    const change = fc.tuple(fc.nat(genuine.body.length - 1), fc.integer({ min: 1, max: 255 }));
    const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      const changed = message.slice();
      for (const [at, bits] of changes) changed[bodyAt + at]! ^= bits;
      const reading = readResponse(changed, asked);
      if (reading.kind !== 'answer') return;
      table.on('www.test', 'A', reading.answer);
      const resolution = await ask('www.test', 'A');
      expect(logger.lines).toEqual([]);
      if (resolution.kind !== 'answer' || resolution.dnssec !== DnssecStatus.secure) return;
      const [set] = readRRsets(asked.qname, resolution.answer);
      expect(set!.rdatas.map((rdata) => rdata.join('.')).sort()).toEqual(['192.0.2.1', '192.0.2.2']);
    });
    await fc.assert(property, { numRuns: 500 });
  });

  test('an answer to a query for RRSIG is insecure, because signatures are not signed', async () => {
    const { ask, table } = fixture();
    table.on('www.test', 'RRSIG', positive(TEST.signed('www.test 300 A 192.0.2.1').split('\n')[1]!));
    expect(await ask('www.test', 'RRSIG')).toMatchObject(insecure);
    expect(table.takeAsked()).toEqual(['www.test RRSIG']);
  });

  test('a signature by the parent zone is invalid below a known zone cut (RFC 4035 section 5.3.1)', async () => {
    const { ask, table } = fixture();
    table.on('www.child.test', 'A', positive(CHILD.signed('www.child.test 300 A 192.0.2.9')));
    expect(await ask('www.child.test', 'A')).toMatchObject(secure);
    const forged = (name: string): ValidationFixture['table'] =>
      table.on(name, 'A', positive(TEST.signed(`${name} 300 A 192.0.2.66`)));
    for (const name of ['child.test', 'mail.child.test']) {
      forged(name);
      expect(await ask(name, 'A')).toMatchObject(bogus(ExtendedError.DNSKEY_MISSING));
    }
    // The NSEC record at the cut belongs to the parent.
    const nsec = TEST.signed(
      `${SOA}\nchild.test 300 NSEC d.test NS DS RRSIG NSEC\ntest 300 NSEC a.test SOA NS RRSIG NSEC`,
    );
    table.on('childe.test', 'A', negative(Rcode.NXDOMAIN, nsec));
    expect(await ask('childe.test', 'A')).toMatchObject(secure);
  });

  test('YXDOMAIN, which may follow from a DNAME, is returned and proves nothing', async () => {
    const { ask, table } = fixture();
    table.on('www.away.test', 'A', negative(Rcode.YXDOMAIN, ''));
    expect(await ask('www.away.test', 'A')).toMatchObject({
      kind: 'answer',
      dnssec: DnssecStatus.indeterminate,
      answer: { rcode: Rcode.YXDOMAIN, answerCount: 0 },
    });
  });

  test('a wildcard answer whose wildcard has fewer labels than its signature states is bogus (CVE-2026-52686)', async () => {
    const { ask, table } = fixture();
    const records = TEST.signed('a.b.w.test 300 A 192.0.2.4', { labels: 2 });
    const deeper = TEST.signed('0.b.w.test 300 NSEC c.b.w.test A RRSIG NSEC');
    table.on('a.b.w.test', 'A', positive(records, deeper));
    // The proof shows that b.w.test exists, so *.w.test does not apply to names below it.
    expect(await ask('a.b.w.test', 'A')).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
    const relabelled = TEST.signed('a.b.w.test 300 A 192.0.2.4', { labels: 2 }).replace(
      ' A 15 2 ',
      ' A 15 3 ',
    );
    table.on('a.b.w.test', 'A', positive(relabelled, deeper));
    expect(await ask('a.b.w.test', 'A')).toMatchObject(bogus(ExtendedError.DNSSEC_BOGUS));
  });
});
