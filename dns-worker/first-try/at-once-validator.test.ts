import { serialize } from 'node:v8';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../shared/dns/iana.ts';
import { readTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import { createSealedRecords, SealedRecords } from '../../shared/memory/sealed-records.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { question, wireName } from '../../test/support/dns/built-messages.ts';
import { ChainTable } from '../../test/support/dns/chain-table.ts';
import { INCEPTION, negative, positive, TestZone } from '../../test/support/dns/test-zone.ts';
import { ROOT, SOA, TEST } from '../../test/support/dns/validation-fixture.ts';
import type { TestClock } from '../../test/support/parts/test-clock.ts';
import type { ShareCuts } from '../dnssec/trust-chain.ts';
import { AtOnceValidator } from './at-once-validator.ts';

const WWW = positive(TEST.signed('www.test 300 A 192.0.2.1'));
const FORGED = positive(TEST.signed('www.test 300 A 192.0.2.1').replace('192.0.2.1', '192.0.2.66'));
const NO_NAME = negative(
  Rcode.NXDOMAIN,
  TEST.signed(`${SOA}\na.test 300 NSEC z.test A RRSIG NSEC\ntest 300 NSEC a.test SOA NS RRSIG NSEC`),
);

let resolving: ChainTable;
let validator: AtOnceValidator;
let clock: TestClock;
beforeEach(() => {
  const memory = createSealedRecords(1);
  const share: ShareCuts = (points) => new SealedRecords(memory, 0, serialize(points));
  resolving = new ChainTable([ROOT], ['nta.test'], share);
  clock = resolving.clock;
  // These arrays are created like those of the table: the context of shared results distinguishes between kinds of
  // arrays.
  const points = {
    anchors: [ROOT].flatMap(({ ds }) => readTrustAnchors(ds)),
    negativeAnchors: [wireName('nta.test')],
  };
  validator = new AtOnceValidator(points, { clock, clockFloorMs: 0, share });
});

/** Makes the resolve thread prove the zone of a name. */
async function prove(...names: string[]): Promise<void> {
  for (const name of names) await resolving.chain.zoneOf(wireName(name), resolving.budget());
}

const mayProve = (name: string, type = 'A' as const): boolean => validator.mayProve(question(name, type));

describe('AtOnceValidator, which validates in the answer thread,', () => {
  test('validates only answers from zones that the resolve thread has already validated', async () => {
    expect(mayProve('www.test')).toBe(false);
    expect(validator.prove(question('www.test', 'A'), WWW)).toBeNull();
    await prove('test');
    expect(mayProve('www.test')).toBe(true);
    const proven = validator.prove(question('www.test', 'A', { dnssecOk: true }), WWW);
    expect(proven).toMatchObject({ answer: { answerCount: 2 }, dnssec: DnssecStatus.secure });
  });

  test('removes the DNSSEC records from an answer for a client without DO', async () => {
    await prove('test');
    expect(validator.prove(question('www.test', 'A'), WWW)).toMatchObject({ answer: { answerCount: 1 } });
  });

  test('accepts a proof that a name does not exist', async () => {
    await prove('test');
    const proven = validator.prove(question('none.test', 'A'), NO_NAME);
    expect(proven).toMatchObject({ answer: { rcode: Rcode.NXDOMAIN }, dnssec: DnssecStatus.secure });
  });

  test('accepts answers without signatures from unsigned zones and for exempt names', async () => {
    await prove('open.test');
    const open = positive('www.open.test 300 A 192.0.2.2');
    expect(mayProve('www.open.test')).toBe(true);
    expect(validator.prove(question('www.open.test', 'A'), open)?.dnssec).toBe(DnssecStatus.insecure);
    const exempt = positive('www.nta.test 300 A 192.0.2.2');
    expect(mayProve('www.nta.test')).toBe(true);
    expect(validator.prove(question('www.nta.test', 'A'), exempt)?.dnssec).toBe(DnssecStatus.insecure);
  });

  test.each([
    ['a forged record', FORGED],
    ['no signature', positive('www.test 300 A 192.0.2.1')],
    [
      'an expired signature',
      positive(TEST.signed('www.test 300 A 192.0.2.1', { expiration: INCEPTION + 1 })),
    ],
    ['a denial without proof', negative(Rcode.NXDOMAIN, TEST.signed(SOA))],
    [
      'an alias to an unknown zone',
      positive(
        `${TEST.signed('www.test 300 CNAME www.child.test')}\n${new TestZone('child.test').signed('www.child.test 300 A 192.0.2.1')}`,
      ),
    ],
  ])('leaves an answer with %s to the resolve thread', async (_what, answer) => {
    await prove('test');
    clock.wallMs = (INCEPTION + 200_000) * 1000;
    expect(validator.prove(question('www.test', 'A'), answer)).toBeNull();
  });

  test('leaves 15 of 16 queries of a zone to the resolve thread after an unproven answer, until 4 are proven', async () => {
    await prove('test');
    const tried = (): number => Array.from({ length: 16 }, () => mayProve('www.test')).filter(Boolean).length;
    expect(tried()).toBe(16);
    validator.prove(question('www.test', 'A'), FORGED);
    expect(tried()).toBe(1);
    for (let i = 0; i < 4; i++) validator.prove(question('www.test', 'A'), WWW);
    expect(tried()).toBe(16);
  });

  test('discards results based on other trust anchors', async () => {
    await prove('test');
    expect(mayProve('www.test')).toBe(true);
    validator.trust(readTrustAnchors(new TestZone('.').ds));
    expect(mayProve('www.test')).toBe(false);
  });

  test('validates nothing after five consecutive turns of the event loop were too short for the work, until one suffices', async () => {
    await prove('test');
    for (let i = 0; i < 5; i++) validator.endTurn(true);
    expect(mayProve('www.test')).toBe(false);
    validator.endTurn(false);
    expect(mayProve('www.test')).toBe(true);
  });

  test('ends a turn of the event loop after ten signatures', async () => {
    await prove('test');
    for (let i = 0; i < 9; i++) validator.prove(question('www.test', 'A'), WWW);
    expect(validator.isTurnOver).toBe(false);
    validator.prove(question('www.test', 'A'), WWW);
    expect(validator.isTurnOver).toBe(true);
    validator.endTurn(true);
    expect(validator.isTurnOver).toBe(false);
  });
});
