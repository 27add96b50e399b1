/** Key queries of a validating resolver, how long it keeps keys, and its budget for a question. */
import { describe, expect, test } from '@jest/globals';
import { ExtendedError, RRType } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { readTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { question } from '../../test/support/dns/built-messages.ts';
import { positive, TestZone } from '../../test/support/dns/test-zone.ts';
import {
  bogus,
  CHILD,
  insecure,
  ROOT,
  secure,
  TEST,
  validationFixture as fixture,
} from '../../test/support/dns/validation-fixture.ts';
import { type QuestionResolver, ValidatingResolver } from './validating-resolver.ts';

describe('ValidatingResolver', () => {
  test('keys are queried once, and again after they expire', async () => {
    const { ask, table, clock } = fixture();
    await ask('www.test', 'A');
    expect(table.takeAsked()).toEqual(['www.test A', '. DNSKEY', 'test DS', 'test DNSKEY']);
    await ask('www.test', 'A');
    expect(table.takeAsked()).toEqual(['www.test A']);
    clock.secs += 301;
    await ask('www.test', 'A');
    expect(table.takeAsked()).toEqual(['www.test A', '. DNSKEY', 'test DS', 'test DNSKEY']);
  });

  test('keys expire by elapsed time even if the wall clock is changed', async () => {
    const { ask, table, clock } = fixture();
    await ask('www.test', 'A');
    table.takeAsked();
    clock.stepSecs = 600;
    await ask('www.test', 'A');
    expect(table.takeAsked()).toEqual(['www.test A']);
    clock.stepSecs = -600;
    clock.secs += 301;
    await ask('www.test', 'A');
    expect(table.takeAsked()).toEqual(['www.test A', '. DNSKEY', 'test DS', 'test DNSKEY']);
  });

  test('concurrent client queries share the queries for keys', async () => {
    const { ask, table } = fixture();
    table.on('mail.test', 'A', positive(TEST.signed('mail.test 300 A 192.0.2.3')));
    const both = await Promise.all([ask('www.test', 'A'), ask('mail.test', 'A')]);
    expect(both).toMatchObject([secure, secure]);
    expect(table.takeAsked().sort()).toEqual([
      '. DNSKEY',
      'mail.test A',
      'test DNSKEY',
      'test DS',
      'www.test A',
    ]);
  });

  test('DS and DNSKEY of the signing zone are queried at the same time', async () => {
    const { table, clock, logger } = fixture();
    const answerDs: (() => void)[] = [];
    const waiting: QuestionResolver = {
      resolve: (asked, done) => {
        if (asked.qtype === RRType.DS) answerDs.push(() => table.resolve(asked, done));
        else table.resolve(asked, done);
        // DS queries are answered only after the DNSKEY query, so the test would not finish if the resolver sent them
        // one after another.
        if (nameToText(asked.qname) === 'test' && asked.qtype === RRType.DNSKEY)
          for (const answer of answerDs) answer();
      },
    };
    const points = { anchors: readTrustAnchors(ROOT.ds), negativeAnchors: [] };
    const resolver = new ValidatingResolver(waiting, points, { clock, timeoutMs: 3000 }, logger);
    const resolution = await new Promise((done) => resolver.resolve(question('www.test', 'A'), done));
    expect(resolution).toMatchObject(secure);
  });

  test('a DS query without an answer causes a temporary failure, not bogus (blocky #2120)', async () => {
    const { ask, table } = fixture();
    const records = positive(TEST.signed('www.test 300 A 192.0.2.1'));
    table.on('www.test', 'A', records).on('test', 'DS', null);
    const failure = { reason: 'servfail', extendedError: ExtendedError.NO_REACHABLE_AUTHORITY };
    expect(await ask('www.test', 'A')).toMatchObject({ ...failure, dnssec: DnssecStatus.indeterminate });
    table.on('test', 'DS', positive(ROOT.signed(TEST.ds)));
    expect(await ask('www.test', 'A')).toMatchObject(secure);
  });

  test("a failure of the client's query itself is returned unchanged", async () => {
    expect(await fixture().ask('unknown.test', 'A')).toMatchObject({ kind: 'failed', reason: 'network' });
  });

  test('a negative trust anchor makes names below it insecure', async () => {
    const { ask, table } = fixture(['child.test']);
    table.on('www.child.test', 'A', positive('www.child.test 300 A 192.0.2.66'));
    expect(await ask('www.child.test', 'A')).toMatchObject(insecure);
    expect(await ask('www.test', 'A')).toMatchObject(secure);
  });

  test('a name below no trust anchor is indeterminate; among several anchors, the closest one is used', async () => {
    const { ask, table } = fixture(
      [],
      readTrustAnchors(`${TEST.dnskey}\nelsewhere.test DS 1 15 2 ${'AB'.repeat(32)}`),
    );
    table.on('www.example', 'A', positive('www.example 300 A 192.0.2.5'));
    expect(await ask('www.example', 'A')).toMatchObject({
      kind: 'answer',
      dnssec: DnssecStatus.indeterminate,
    });
    expect(await ask('www.test', 'A')).toMatchObject(secure);
    const elsewhere = new TestZone('elsewhere.test');
    table.on('elsewhere.test', 'A', positive(elsewhere.signed('elsewhere.test 300 A 192.0.2.5')));
    table.on('elsewhere.test', 'DS', positive(TEST.signed(elsewhere.ds)));
    table.on('elsewhere.test', 'DNSKEY', positive(elsewhere.signed(elsewhere.dnskey)));
    expect(await ask('elsewhere.test', 'A')).toMatchObject({ reason: 'bogus' });
  });

  test('a bogus zone is queried again after 5 s (blocky #2120)', async () => {
    const { ask, table, clock } = fixture();
    table.on('test', 'DNSKEY', positive(TEST.dnskey));
    expect(await ask('www.test', 'A')).toMatchObject(bogus(ExtendedError.RRSIGS_MISSING));
    table.on('test', 'DNSKEY', positive(TEST.signed(TEST.dnskey)));
    expect(await ask('www.test', 'A')).toMatchObject(bogus(ExtendedError.RRSIGS_MISSING));
    clock.secs += 6;
    expect(await ask('www.test', 'A')).toMatchObject(secure);
  });

  test('a query causes at most 30 subqueries, however deep the zones', async () => {
    const { ask, table } = fixture();
    let name = 'test';
    let above = TEST;
    for (let depth = 0; depth < 40; depth++) {
      name = `z.${name}`;
      const zone = new TestZone(name);
      table
        .on(name, 'DS', positive(above.signed(zone.ds)))
        .on(name, 'DNSKEY', positive(zone.signed(zone.dnskey)));
      above = zone;
    }
    table.on(`www.${name}`, 'A', positive(above.signed(`www.${name} 300 A 192.0.2.9`)));
    expect(await ask(`www.${name}`, 'A')).toMatchObject({ reason: 'servfail' });
    expect(table.takeAsked()).toHaveLength(31);
    // Proven steps are kept, so the next attempt gets further.
    expect(await ask(`www.${name}`, 'A')).toMatchObject({ reason: 'servfail' });
    expect(await ask(`www.${name}`, 'A')).toMatchObject(secure);
  });

  test("an answer reports how much of the query's budget was spent (CVE-2026-50045)", async () => {
    const { ask } = fixture();
    // Shares of the budget: first 3 of at most 30 key queries; then no key queries, and 1 of at most 128 signatures.
    expect(await ask('www.test', 'A')).toMatchObject({ ...secure, cost: expect.closeTo(3 / 30) });
    expect(await ask('www.test', 'A')).toMatchObject({ ...secure, cost: expect.closeTo(1 / 128) });
  });

  test('a zone that exhausts the budget of a query does not affect the keys of other zones (KeyTrap, CVE-2023-50387)', async () => {
    const { ask, table } = fixture();
    const trap = TEST.signed('trap.test 300 CNAME www.child.test');
    const line = trap.split('\n')[1]!;
    const wrong = line.replace(/\S+$/, 'A'.repeat(86) + '==');
    const records = [
      'trap.test 300 CNAME www.child.test',
      ...Array.from({ length: 15 }, () => wrong),
      line,
    ].join('\n');
    const target = CHILD.signed('www.child.test 300 A 192.0.2.9');
    table.on(
      'trap.test',
      'A',
      positive(`${records}\n${target.replace(/\S+$/, 'A'.repeat(86) + '==')}\n${target.split('\n')[1]!}`),
    );
    expect(await ask('trap.test', 'A')).toMatchObject({ reason: 'bogus' });
    table.on('www.child.test', 'A', positive(target));
    expect(await ask('www.child.test', 'A')).toMatchObject(secure);
  });

  test('at most as many queries wait as the resolver allows', async () => {
    const { ask } = fixture();
    const all = await Promise.all(Array.from({ length: 8193 }, () => ask('www.test', 'A')));
    expect(all[0]).toMatchObject(secure);
    expect(all.at(-2)).toBe(all[0]);
    expect(all.at(-1)).toMatchObject({ kind: 'failed', reason: 'overloaded' });
  });

  test('trusted keys and self-revoked keys are reported separately (RFC 5011 section 2.1)', async () => {
    const { table, resolver } = fixture();
    const [next, revoked] = [new TestZone('.'), ROOT.revoked()];
    const root = Uint8Array.of(0);
    const seen = (...records: string[]): ReturnType<typeof resolver.observe> => {
      table.on('.', 'DNSKEY', positive(records.join('\n')));
      return resolver.observe(root);
    };
    const both = `${ROOT.dnskey}\n${next.dnskey}`;
    expect(await seen(ROOT.signed(both))).toMatchObject({
      isTrusted: true,
      keys: [{ isRevoked: false }, { isRevoked: false }],
      originalTtlSecs: 300,
    });
    expect(await seen(next.signed(both))).toMatchObject({ isTrusted: false });
    const end = `${revoked.dnskey}\n${next.dnskey}`;
    const signedByBoth = `${revoked.signed(end)}\n${next.signed(end).split('\n').at(-1)!}`;
    expect(await seen(signedByBoth)).toMatchObject({
      isTrusted: false,
      keys: [{ isRevoked: true }, { isRevoked: false }],
    });
    // The revoke bit has no effect in an RRset that only another key has signed.
    expect((await seen(next.signed(end)))!.keys).toMatchObject([{ isRevoked: false }]);
    expect((await seen(ROOT.signed(`${ROOT.dnskey}\n${end}`)))!.keys).toHaveLength(2);
    table.on('.', 'DNSKEY', null);
    expect(await resolver.observe(root)).toBeNull();
  });

  test('observe() never rejects its promise, because its caller handles no error', async () => {
    const { clock, logger } = fixture();
    const broken: QuestionResolver = {
      resolve: () => {
        throw new Error('broken');
      },
    };
    const points = { anchors: readTrustAnchors(ROOT.ds), negativeAnchors: [] };
    const resolver = new ValidatingResolver(broken, points, { clock, timeoutMs: 3000 }, logger);
    await expect(resolver.observe(Uint8Array.of(0))).resolves.toBeNull();
    expect(logger.lines).toHaveLength(1);
    const asked = await new Promise((done) => resolver.resolve(question('www.test', 'A'), done));
    expect(asked).toMatchObject({ kind: 'failed', reason: 'servfail' });
  });

  test('a revoked key validates nothing, even if it is an anchor', async () => {
    const revoked = ROOT.revoked();
    const { ask, table } = fixture([], readTrustAnchors(`${ROOT.ds}\n${revoked.ds}`));
    table.on('.', 'DNSKEY', positive(revoked.signed(revoked.dnskey)));
    expect(await ask('www.test', 'A')).toMatchObject({ reason: 'bogus' });
  });

  test('new trust anchors apply immediately, and keys validated by the old anchors are discarded', async () => {
    const { ask, table, resolver } = fixture();
    expect(await ask('www.test', 'A')).toMatchObject(secure);
    const next = new TestZone('.');
    resolver.trust(readTrustAnchors(next.ds));
    expect(await ask('www.test', 'A')).toMatchObject({ reason: 'bogus' });
    table.on('.', 'DNSKEY', positive(next.signed(next.dnskey)));
    table.on('test', 'DS', positive(next.signed(TEST.ds)));
    resolver.trust(readTrustAnchors(next.ds));
    expect(await ask('www.test', 'A')).toMatchObject(secure);
    resolver.trust([]);
    expect(await ask('www.test', 'A')).toMatchObject({ dnssec: DnssecStatus.indeterminate });
  });
});
