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

describe('validate(), which validates an answer,', () => {
  test('treats an answer with signatures on all RRsets as secure, and returns their remaining validity', async () => {
    const verdict = await verdictOf(positive(TEST.signed('www.test 60 A 192.0.2.1')));
    expect(verdict).toMatchObject(SECURE);
    expect([...verdict.lifetimes].map(([{ type }, secs]) => [type, secs])).toEqual([[RRType.A, 60]]);
  });

  test('treats an answer without a signature, or with a signature over different data, as bogus', async () => {
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

  test('returns the status of the weakest link in a CNAME chain', async () => {
    const toOpen = TEST.signed('www.test 60 CNAME www.open.test');
    const toSub = TEST.signed('www.test 60 CNAME sub.test');
    expect(await verdictOf(positive(`${toOpen}\nwww.open.test 60 A 192.0.2.1`))).toMatchObject(INSECURE);
    expect(await verdictOf(positive(`${toSub}\nsub.test 60 A 192.0.2.1`))).toMatchObject({
      status: DnssecStatus.bogus,
    });
    const sub = TEST.signed('sub.test 60 A 192.0.2.1');
    expect(await verdictOf(positive(`${toSub}\n${sub}`))).toMatchObject(SECURE);
  });

  test('requires a signature for every CNAME except those that a DNAME synthesizes', async () => {
    const dname = TEST.signed('sub.test 60 DNAME child.test');
    const target = CHILD.signed('a.child.test 60 A 192.0.2.1');
    const answer = (cname: string): CacheableAnswer =>
      positive(`${dname}\na.sub.test 60 CNAME ${cname}\n${target}`);
    expect(await verdictOf(answer('a.child.test'), 'a.sub.test')).toMatchObject(SECURE);
    expect(await verdictOf(answer('b.child.test'), 'a.sub.test')).toMatchObject({
      status: DnssecStatus.bogus,
    });
  });

  test('requires proof that no name closer than the wildcard exists', async () => {
    const expanded = TEST.signed('*.sub.test 60 A 192.0.2.1', { labels: 2 }).replaceAll('*.sub', 'a.sub');
    const gap = TEST.signed('*.sub.test 60 NSEC t.test A RRSIG NSEC', { labels: 2 });
    expect(await verdictOf(positive(expanded), 'a.sub.test')).toMatchObject(UNPROVEN);
    expect(await verdictOf(positive(expanded, gap), 'a.sub.test')).toMatchObject(SECURE);
  });

  test('requires proof of NXDOMAIN for the name and for the wildcard', async () => {
    const gap = TEST.signed(`${SOA}\nsub.test 60 NSEC t.test A RRSIG NSEC`);
    const wildcard = TEST.signed('test 60 NSEC a.test SOA RRSIG NSEC');
    expect(await verdictOf(negative(Rcode.NXDOMAIN, `${gap}\n${wildcard}`), 'svc.test')).toMatchObject(
      SECURE,
    );
    expect(await verdictOf(negative(Rcode.NXDOMAIN, gap), 'svc.test')).toMatchObject(UNPROVEN);
  });

  test('requires proof of NODATA for the queried type', async () => {
    const own = TEST.signed(`${SOA}\nwww.test 60 NSEC x.test A RRSIG NSEC`);
    expect(await verdictOf(negative(Rcode.NOERROR, own), 'www.test', RRType.AAAA)).toMatchObject(SECURE);
    expect(await verdictOf(negative(Rcode.NOERROR, own), 'www.test', RRType.A)).toMatchObject(UNPROVEN);
  });

  test('requires no proof of NXDOMAIN or NODATA in an unsigned zone', async () => {
    const soa = SOA.replace('test', 'open.test');
    expect(await verdictOf(negative(Rcode.NXDOMAIN, soa), 'www.open.test')).toMatchObject(INSECURE);
  });

  test('rejects a signature of the parent zone below a known zone cut', async () => {
    const table = new ChainTable();
    const child = positive(CHILD.signed('www.child.test 60 A 192.0.2.1'));
    expect(await verdictOf(child, 'www.child.test', RRType.A, table)).toMatchObject(SECURE);
    const parents = positive(TEST.signed('www.child.test 60 A 192.0.2.6'));
    expect(await verdictOf(parents, 'www.child.test', RRType.A, table)).toMatchObject({
      status: DnssecStatus.bogus,
    });
  });

  test('accepts the DS records of a zone only if the parent zone signed them', async () => {
    expect(await verdictOf(positive(TEST.signed(CHILD.ds)), 'child.test', RRType.DS)).toMatchObject(SECURE);
    expect(await verdictOf(positive(CHILD.signed(CHILD.ds)), 'child.test', RRType.DS)).toMatchObject({
      status: DnssecStatus.bogus,
    });
  });

  test('is indeterminate and unavailable if no server answers the queries for the chain', async () => {
    const table = new ChainTable();
    table.off('test DNSKEY');
    const answer = positive(TEST.signed('www.test 60 A 192.0.2.1'));
    expect(await verdictOf(answer, 'www.test', RRType.A, table)).toMatchObject({
      status: DnssecStatus.indeterminate,
      extendedError: ExtendedError.NO_REACHABLE_AUTHORITY,
      isUnavailable: true,
    });
  });

  test('is indeterminate for a name without a trust anchor above it', async () => {
    const table = new ChainTable([CHILD]);
    const answer = positive(TEST.signed('www.test 60 A 192.0.2.1'));
    expect(await verdictOf(answer, 'www.test', RRType.A, table)).toMatchObject(INDETERMINATE);
  });

  test('treats explicitly queried RRSIG records as insecure, because no signature covers them', async () => {
    const [, signature] = TEST.signed('www.test 60 A 192.0.2.1').split('\n');
    expect(await verdictOf(positive(signature!), 'www.test', RRType.RRSIG)).toMatchObject(INSECURE);
  });

  test('proves nothing by an answer with YXDOMAIN', async () => {
    const dname = TEST.signed('sub.test 60 DNAME child.test');
    const answer = negative(Rcode.YXDOMAIN, '', dname);
    expect(await verdictOf(answer, `${'a'.repeat(63)}.sub.test`)).toMatchObject(INDETERMINATE);
  });

  test('treats an answer below a negative trust anchor as insecure even if its authority section is badly signed', async () => {
    const table = new ChainTable(undefined, ['open.test']);
    const authority = TEST.signed(SOA).replace('ns.test', 'nx.test');
    const answer = positive('www.open.test 60 A 192.0.2.1', authority);
    expect(await verdictOf(answer, 'www.open.test', RRType.A, table)).toMatchObject(INSECURE);
  });
});
