/**
 * An upstream that can sign nothing itself: it sends junk in addition to signed data of zones, or instead of this data.
 */
import { describe, expect, test } from '@jest/globals';
import { ExtendedError, Rcode } from '../../shared/dns/iana.ts';
import { readTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import { Nsec3Chain } from '../../test/support/dns/nsec3-chain.ts';
import { INCEPTION, negative, positive, TestZone } from '../../test/support/dns/test-zone.ts';
import {
  bogus,
  CHILD,
  insecure,
  ROOT,
  secure,
  SOA,
  TEST,
  type ValidationFixture,
  validationFixture as fixture,
} from '../../test/support/dns/validation-fixture.ts';

const ISLAND = new TestZone('island.open.test');
const CHILD_SOA = 'child.test 300 SOA ns.test root.test 1 2 3 4 300';

/** A forged signature for the RRset of this owner and type. */
function junk(owner: string, type: string, signer: string): string {
  const times = `${String(INCEPTION + 600_000)} ${String(INCEPTION)}`;
  const labels = owner === '.' ? 0 : owner.split('.').length;
  return `${owner} 300 RRSIG ${type} 15 ${String(labels)} 300 ${times} 4711 ${signer} ${'A'.repeat(86)}==`;
}

/** Proves that `name` is not the apex of a zone. */
function noCut(table: ValidationFixture['table'], name: string, zone = TEST, soa = SOA): void {
  const nsec = `${name} 300 NSEC \\000.${name} A RRSIG NSEC`.replace('\\000', '0');
  table.on(name, 'DS', negative(Rcode.NOERROR, zone.signed(`${soa}\n${nsec}`)));
}

describe('an answer with a forged signature', () => {
  test('is bogus below the trust anchor of an island, even if the signature names a zone above the anchor', async () => {
    const { ask, table } = fixture([], readTrustAnchors(TEST.dnskey));
    noCut(table, 'www.test');
    table.on('www.test', 'A', positive(`www.test 300 A 192.0.2.66\n${junk('www.test', 'A', '.')}`));
    expect(await ask('www.test', 'A')).toMatchObject({ kind: 'failed', reason: 'bogus' });
  });

  test('is bogus below an island anchor even if its zone is proven to be unsigned', async () => {
    const { ask, table } = fixture([], readTrustAnchors(`${ROOT.ds}\n${ISLAND.ds}`));
    const name = 'www.island.open.test';
    table.on('island.open.test', 'DNSKEY', positive(ISLAND.signed(ISLAND.dnskey)));
    noCut(table, name, ISLAND, 'island.open.test 300 SOA ns.test root.test 1 2 3 4 300');
    for (const signer of ['open.test', 'test', '.']) {
      table.on(name, 'A', positive(`${name} 300 A 192.0.2.66\n${junk(name, 'A', signer)}`));
      expect(await ask(name, 'A')).toMatchObject({ kind: 'failed', reason: 'bogus' });
    }
    table.on(name, 'A', positive(ISLAND.signed(`${name} 300 A 192.0.2.1`)));
    expect(await ask(name, 'A')).toMatchObject(secure);
  });

  test('is bogus below an anchor even if the parent zone also has keys', async () => {
    const { ask, table } = fixture([], readTrustAnchors(`${ROOT.ds}\n${new TestZone('child.test').ds}`));
    const name = 'www.child.test';
    table.on(name, 'A', positive(TEST.signed(`${name} 300 A 192.0.2.66`)));
    expect(await ask(name, 'A')).toMatchObject({ kind: 'failed', reason: 'bogus' });
  });

  test('is insecure, like an answer without signature, in a zone that is proven to be unsigned', async () => {
    const { ask, table } = fixture();
    const name = 'www.open.test';
    for (const signer of [name, 'open.test', 'test', '.']) {
      table.on(name, 'A', positive(`${name} 300 A 192.0.2.2\n${junk(name, 'A', signer)}`));
      expect(await ask(name, 'A')).toMatchObject(insecure);
    }
  });

  test('is secure if a genuine signature follows, whatever zone the forged signature names', async () => {
    const { ask, table } = fixture();
    noCut(table, 'www.test');
    const [record, genuine] = TEST.signed('www.test 300 A 192.0.2.1').split('\n');
    for (const signer of ['.', 'test', 'www.test']) {
      table.on('www.test', 'A', positive(`${record!}\n${junk('www.test', 'A', signer)}\n${genuine!}`));
      expect(await ask('www.test', 'A')).toMatchObject(secure);
    }
  });
});

describe('a trust anchor at a zone cut', () => {
  test('lets the NSEC at the cut be evaluated for the parent zone', async () => {
    const { ask, table } = fixture([], readTrustAnchors(`${ROOT.ds}\n${CHILD.ds}`));
    const nsec = `${SOA}\nchild.test 300 NSEC d.test NS DS RRSIG NSEC\ntest 300 NSEC a.test SOA NS RRSIG NSEC`;
    table.on('childe.test', 'A', negative(Rcode.NXDOMAIN, TEST.signed(nsec)));
    expect(await ask('childe.test', 'A')).toMatchObject(secure);
  });
});

describe('a negative trust anchor inside a zone', () => {
  const expired = { inception: INCEPTION - 20_000_000, expiration: INCEPTION - 10_000_000 };

  test('makes names at and below it insecure if their signatures are invalid, and no other names', async () => {
    const { ask, table } = fixture(['nta.test']);
    for (const name of ['nta.test', 'www.nta.test', 'ntb.test']) {
      noCut(table, name);
      table.on(name, 'A', positive(TEST.signed(`${name} 300 A 192.0.2.3`, expired)));
    }
    expect(await ask('nta.test', 'A')).toMatchObject(insecure);
    expect(await ask('www.nta.test', 'A')).toMatchObject(insecure);
    expect(await ask('ntb.test', 'A')).toMatchObject(bogus(ExtendedError.SIGNATURE_EXPIRED));
  });

  test('makes nonexistent names below it insecure, whether the denial is proven or not', async () => {
    const { ask, table } = fixture(['nta.test']);
    const nsec = `${SOA}\nnt.test 300 NSEC o.test A RRSIG NSEC\ntest 300 NSEC a.test SOA NS RRSIG NSEC`;
    for (const authority of [TEST.signed(nsec), TEST.signed(nsec, expired), SOA, '']) {
      table.on('no.nta.test', 'A', negative(Rcode.NXDOMAIN, authority));
      expect(await ask('no.nta.test', 'A')).toMatchObject(insecure);
    }
    table.on('nu.test', 'A', negative(Rcode.NXDOMAIN, TEST.signed(nsec, expired)));
    expect(await ask('nu.test', 'A')).toMatchObject(bogus(ExtendedError.SIGNATURE_EXPIRED));
  });

  test('does not apply to an alias elsewhere whose target is below the anchor', async () => {
    const { ask, table } = fixture(['nta.test']);
    noCut(table, 'away.test');
    table.on('away.test', 'A', positive('away.test 300 CNAME www.nta.test\nwww.nta.test 300 A 192.0.2.3'));
    expect(await ask('away.test', 'A')).toMatchObject(bogus(ExtendedError.RRSIGS_MISSING));
  });
});

describe('a query for a meta type that covers several types (MAILA, MAILB)', () => {
  test('gets a secure denial only if the name is proven to have no data at all', async () => {
    const { ask, table } = fixture();
    for (const type of [253, 254] as const) {
      const nodata = (types: string): void => {
        const nsec = `${SOA}\nwww.test 300 NSEC x.test ${types}`;
        table.on('www.test', `TYPE${String(type)}`, negative(Rcode.NOERROR, TEST.signed(nsec)));
      };
      noCut(table, 'www.test');
      nodata('A RRSIG NSEC');
      expect(await ask('www.test', type)).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
      nodata('RRSIG NSEC TYPE300');
      expect(await ask('www.test', type)).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
      // RFC 9824 section 2: the bitmap of a name that exists only for the denial.
      nodata('RRSIG NSEC TYPE128');
      expect(await ask('www.test', type)).toMatchObject(secure);
    }
  });
});

describe('a query for type RRSIG', () => {
  test('rejects an unproven alias and an unproven denial', async () => {
    const { ask, table } = fixture();
    noCut(table, 'www.test');
    const alias = `www.test 300 CNAME evil.open.test`;
    table.on('www.test', 'RRSIG', positive(`${alias}\n${junk('evil.open.test', 'A', 'open.test')}`));
    expect(await ask('www.test', 'RRSIG')).toMatchObject(bogus(ExtendedError.RRSIGS_MISSING));
    table.on('www.test', 'RRSIG', negative(Rcode.NXDOMAIN, TEST.signed(SOA)));
    expect(await ask('www.test', 'RRSIG')).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
    // Servers may omit RRSIG records, whatever the bitmap says.
    table.on(
      'www.test',
      'RRSIG',
      negative(Rcode.NOERROR, TEST.signed(`${SOA}\nwww.test 300 NSEC x.test A RRSIG NSEC`)),
    );
    expect(await ask('www.test', 'RRSIG')).toMatchObject(insecure);
  });
});

describe('NSEC3 records with more iterations than Weir evaluates', () => {
  const COSTLY = new Nsec3Chain(
    'test',
    { iterations: 60 },
    { test: 'SOA NS RRSIG DNSKEY NSEC3PARAM', 'child.test': 'NS DS RRSIG' },
  );
  const SIGNED = `${SOA}\n${COSTLY.proof('test', 'child.test', 'z.test')}`;

  function costlyFixture(): ValidationFixture {
    const it = fixture();
    it.table.on(
      'www.child.test',
      'DS',
      negative(
        Rcode.NOERROR,
        CHILD.signed(`${CHILD_SOA}\nwww.child.test 300 NSEC x.child.test A RRSIG NSEC`),
      ),
    );
    for (const name of ['www.test', 'z.test'])
      it.table.on(name, 'DS', negative(Rcode.NOERROR, TEST.signed(SIGNED)));
    return it;
  }

  test.each([
    ['NXDOMAIN', Rcode.NXDOMAIN],
    ['NODATA', Rcode.NOERROR],
  ])('in a parent zone do not make %s insecure in a signed child zone', async (_what, rcode) => {
    const { ask, table } = costlyFixture();
    table.on('www.child.test', 'A', negative(rcode, TEST.signed(SIGNED)));
    expect(await ask('www.child.test', 'A')).toMatchObject(bogus(ExtendedError.NSEC_MISSING));
    table.on('z.test', 'A', negative(rcode, TEST.signed(SIGNED)));
    expect(await ask('z.test', 'A')).toMatchObject(insecure);
  });

  test('in a parent zone do not make its wildcard records valid in a signed child zone', async () => {
    const { ask, table } = costlyFixture();
    const wildcard = (name: string): string => TEST.signed(`${name} 300 A 192.0.2.66`, { labels: 1 });
    table.on('www.child.test', 'A', positive(wildcard('www.child.test'), TEST.signed(SIGNED)));
    expect(await ask('www.child.test', 'A')).toMatchObject({ kind: 'failed', reason: 'bogus' });
    table.on('z.test', 'A', positive(wildcard('z.test'), TEST.signed(SIGNED)));
    expect(await ask('z.test', 'A')).toMatchObject(insecure);
  });
});

describe('a query for type CNAME', () => {
  const DNAME = TEST.signed('away.test 300 DNAME open.test');
  const ALIAS = 'www.away.test 300 CNAME www.open.test';

  test('gets a secure answer only with the DNAME that synthesizes the CNAME', async () => {
    const { ask, table } = fixture();
    noCut(table, 'away.test');
    table.on('www.away.test', 'DS', positive(`${DNAME}\n${ALIAS}`));
    table.on('www.away.test', 'CNAME', positive(`${DNAME}\n${ALIAS}`));
    expect(await ask('www.away.test', 'CNAME')).toMatchObject(secure);
    for (const evil of [
      ALIAS.replace('www.open', 'evil.open'),
      `${ALIAS}\n${ALIAS.replace('www.open', 'evil.open')}`,
    ]) {
      table.on('www.away.test', 'CNAME', positive(`${DNAME}\n${evil}`));
      expect(await ask('www.away.test', 'CNAME')).toMatchObject({ kind: 'failed', reason: 'bogus' });
    }
  });
});
