import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { ChainTable } from '../../test/support/dns/chain-table.ts';
import { negative, positive } from '../../test/support/dns/test-zone.ts';
import { CHILD, SOA, TEST } from '../../test/support/dns/validation-fixture.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';
import { validate } from './validator.ts';

const SECURE = { status: DnssecStatus.secure, extendedError: -1, isUnavailable: false };
const INSECURE = { status: DnssecStatus.insecure, extendedError: -1, isUnavailable: false };
const INDETERMINATE = { status: DnssecStatus.indeterminate, extendedError: -1, isUnavailable: false };
const UNPROVEN = { status: DnssecStatus.bogus, extendedError: ExtendedError.NSEC_MISSING };

function verdictOf(
  answer: CacheableAnswer,
  name = 'www.test',
  type: number = RRType.A,
  table = new ChainTable(),
) {
  return validate(wireName(name), type, answer, table.chain, table.budget());
}

describe('validate()', () => {
  test('treats an answer as secure if all its RRsets are signed, and returns how long each is valid', async () => {
    const verdict = await verdictOf(positive(TEST.signed('www.test 60 A 192.0.2.1')));
    expect(verdict).toMatchObject(SECURE);
    expect([...verdict.lifetimes].map(([{ type }, secs]) => [type, secs])).toEqual([[RRType.A, 60]]);
  });

  test('treats it as bogus without a signature, and with a signature of other data', async () => {
    const signed = TEST.signed('www.test 60 A 192.0.2.1');
    expect(await verdictOf(positive('www.test 60 A 192.0.2.1'))).toMatchObject({
      status: DnssecStatus.bogus,
      extendedError: ExtendedError.RRSIGS_MISSING,
    });
    expect(await verdictOf(positive(signed.replace('192.0.2.1', '192.0.2.2')))).toMatchObject({
      status: DnssecStatus.bogus,
      extendedError: ExtendedError.DNSSEC_BOGUS,
    });
  });

  test('returns the status of the weakest part of a chain of aliases', async () => {
    const toOpen = TEST.signed('www.test 60 CNAME www.open.test');
    const toSub = TEST.signed('www.test 60 CNAME sub.test');
    expect(await verdictOf(positive(`${toOpen}\nwww.open.test 60 A 192.0.2.1`))).toMatchObject(INSECURE);
    expect(await verdictOf(positive(`${toSub}\nsub.test 60 A 192.0.2.1`))).toMatchObject({
      status: DnssecStatus.bogus,
    });
    const sub = TEST.signed('sub.test 60 A 192.0.2.1');
    expect(await verdictOf(positive(`${toSub}\n${sub}`))).toMatchObject(SECURE);
  });

  test('needs no signature for the CNAME that a DNAME synthesizes, and one for any other', async () => {
    const dname = TEST.signed('sub.test 60 DNAME child.test');
    const target = CHILD.signed('a.child.test 60 A 192.0.2.1');
    const answer = (cname: string): CacheableAnswer =>
      positive(`${dname}\na.sub.test 60 CNAME ${cname}\n${target}`);
    expect(await verdictOf(answer('a.child.test'), 'a.sub.test')).toMatchObject(SECURE);
    expect(await verdictOf(answer('b.child.test'), 'a.sub.test')).toMatchObject({
      status: DnssecStatus.bogus,
    });
  });

  test('requires proof that a wildcard answer is the closest', async () => {
    const expanded = TEST.signed('*.sub.test 60 A 192.0.2.1', { labels: 2 }).replaceAll('*.sub', 'a.sub');
    const gap = TEST.signed('*.sub.test 60 NSEC t.test A RRSIG NSEC', { labels: 2 });
    expect(await verdictOf(positive(expanded), 'a.sub.test')).toMatchObject(UNPROVEN);
    expect(await verdictOf(positive(expanded, gap), 'a.sub.test')).toMatchObject(SECURE);
  });

  test('requires NXDOMAIN to be proven for the name and for the wildcard', async () => {
    const gap = TEST.signed(`${SOA}\nsub.test 60 NSEC t.test A RRSIG NSEC`);
    const wildcard = TEST.signed('test 60 NSEC a.test SOA RRSIG NSEC');
    expect(await verdictOf(negative(Rcode.NXDOMAIN, `${gap}\n${wildcard}`), 'svc.test')).toMatchObject(
      SECURE,
    );
    expect(await verdictOf(negative(Rcode.NXDOMAIN, gap), 'svc.test')).toMatchObject(UNPROVEN);
  });

  test('requires NODATA to be proven for the type', async () => {
    const own = TEST.signed(`${SOA}\nwww.test 60 NSEC x.test A RRSIG NSEC`);
    expect(await verdictOf(negative(Rcode.NOERROR, own), 'www.test', RRType.AAAA)).toMatchObject(SECURE);
    expect(await verdictOf(negative(Rcode.NOERROR, own), 'www.test', RRType.A)).toMatchObject(UNPROVEN);
  });

  test('requires no proof of absence in an unsigned zone', async () => {
    const soa = SOA.replace('test', 'open.test');
    expect(await verdictOf(negative(Rcode.NXDOMAIN, soa), 'www.open.test')).toMatchObject(INSECURE);
  });

  test('refuses a signature of the parent below a known cut', async () => {
    const table = new ChainTable();
    const child = positive(CHILD.signed('www.child.test 60 A 192.0.2.1'));
    expect(await verdictOf(child, 'www.child.test', RRType.A, table)).toMatchObject(SECURE);
    const parents = positive(TEST.signed('www.child.test 60 A 192.0.2.6'));
    expect(await verdictOf(parents, 'www.child.test', RRType.A, table)).toMatchObject({
      status: DnssecStatus.bogus,
    });
  });

  test('uses the DS of a zone from the zone above', async () => {
    expect(await verdictOf(positive(TEST.signed(CHILD.ds)), 'child.test', RRType.DS)).toMatchObject(SECURE);
    expect(await verdictOf(positive(CHILD.signed(CHILD.ds)), 'child.test', RRType.DS)).toMatchObject({
      status: DnssecStatus.bogus,
    });
  });

  test('is indeterminate and unavailable if no server answers for the chain', async () => {
    const table = new ChainTable();
    table.off('test DNSKEY');
    const answer = positive(TEST.signed('www.test 60 A 192.0.2.1'));
    expect(await verdictOf(answer, 'www.test', RRType.A, table)).toMatchObject({
      status: DnssecStatus.indeterminate,
      extendedError: ExtendedError.NO_REACHABLE_AUTHORITY,
      isUnavailable: true,
    });
  });

  test('is indeterminate for a name without an anchor above it', async () => {
    const table = new ChainTable([CHILD]);
    const answer = positive(TEST.signed('www.test 60 A 192.0.2.1'));
    expect(await verdictOf(answer, 'www.test', RRType.A, table)).toMatchObject(INDETERMINATE);
  });

  test('treats explicitly requested signatures as insecure, because nothing signs them', async () => {
    const [, signature] = TEST.signed('www.test 60 A 192.0.2.1').split('\n');
    expect(await verdictOf(positive(signature!), 'www.test', RRType.RRSIG)).toMatchObject(INSECURE);
  });

  test('proves nothing by YXDOMAIN', async () => {
    const dname = TEST.signed('sub.test 60 DNAME child.test');
    const answer = negative(Rcode.YXDOMAIN, '', dname);
    expect(await verdictOf(answer, `${'a'.repeat(63)}.sub.test`)).toMatchObject(INDETERMINATE);
  });

  test('treats an answer of an exempt name as insecure even with a badly signed authority section', async () => {
    const table = new ChainTable(undefined, ['open.test']);
    const authority = TEST.signed(SOA).replace('ns.test', 'nx.test');
    const answer = positive('www.open.test 60 A 192.0.2.1', authority);
    expect(await verdictOf(answer, 'www.open.test', RRType.A, table)).toMatchObject(INSECURE);
  });
});
