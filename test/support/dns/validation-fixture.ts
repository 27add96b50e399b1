/** A validating resolver over generated zones: `.`, `test`, and zones below it. */
import type { Clock } from '../../../shared/clock.ts';
import type { RRTypeName } from '../../../shared/dns/iana.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { readTrustAnchors, type TrustAnchor } from '../../../shared/dns/trust-anchors.ts';
import { DnssecStatus } from '../../../shared/query-log.ts';
import { ValidatingResolver } from '../../../dns-worker/dnssec/validating-resolver.ts';
import type { Resolution } from '../../../dns-worker/resolve/resolution.ts';
import { question, wireName } from './built-messages.ts';
import { MemoryLogger } from '../parts/memory-logger.ts';
import { within } from '../parts/until.ts';
import { INCEPTION, negative, positive, TableResolver, TestZone } from './test-zone.ts';

export const ROOT = new TestZone('.');
export const TEST = new TestZone('test');
export const CHILD = new TestZone('child.test');
export const SOA = 'test 300 SOA ns.test root.test 1 2 3 4 300';

class TestClock implements Clock {
  secs = INCEPTION + 1000;
  /** Seconds by which the wall clock was set forward or back. */
  stepSecs = 0;
  nowMs = (): number => (this.secs + this.stepSecs) * 1000;
  monotonicMs = (): number => this.secs * 1000;
}

/** The resolver, its table of answers, and its clock. */
export interface ValidationFixture {
  readonly table: TableResolver;
  readonly clock: TestClock;
  readonly logger: MemoryLogger;
  readonly resolver: ValidatingResolver;
  readonly ask: (
    name: string,
    type: RRTypeName | number,
    flags?: Parameters<typeof question>[2],
  ) => Promise<Resolution>;
}

/** `test` and `child.test` are signed, `open.test` is not. */
export function validationFixture(
  negativeAnchors: string[] = [],
  anchors: TrustAnchor[] = readTrustAnchors(ROOT.ds),
): ValidationFixture {
  const table = new TableResolver()
    .on('.', 'DNSKEY', positive(ROOT.signed(ROOT.dnskey)))
    .on('test', 'DS', positive(ROOT.signed(TEST.ds)))
    .on('test', 'DNSKEY', positive(TEST.signed(TEST.dnskey)))
    .on('child.test', 'DS', positive(TEST.signed(CHILD.ds)))
    .on('child.test', 'DNSKEY', positive(CHILD.signed(CHILD.dnskey)))
    .on('www.test', 'A', positive(TEST.signed('www.test 300 A 192.0.2.1')))
    .on(
      'open.test',
      'DS',
      negative(Rcode.NOERROR, TEST.signed(`${SOA}\nopen.test 300 NSEC p.test NS RRSIG NSEC`)),
    )
    .on('www.open.test', 'A', positive('www.open.test 300 A 192.0.2.2'));
  const clock = new TestClock();
  const logger = new MemoryLogger();
  const points = { anchors, negativeAnchors: negativeAnchors.map(wireName) };
  const resolver = new ValidatingResolver(table, points, { clock, timeoutMs: 3000 }, logger);
  const ask: ValidationFixture['ask'] = (name, type, flags) =>
    within(
      `${name} to be resolved`,
      new Promise((done) => resolver.resolve(question(name, type, flags), done)),
    );
  return { table, clock, logger, resolver, ask };
}

/** Resolution of each state. */
export const secure = { kind: 'answer', dnssec: DnssecStatus.secure };
export const insecure = { kind: 'answer', dnssec: DnssecStatus.insecure };
export const bogus = (extendedError: number): object => ({
  kind: 'failed',
  reason: 'bogus',
  rcode: Rcode.SERVFAIL,
  dnssec: DnssecStatus.bogus,
  extendedError,
});
