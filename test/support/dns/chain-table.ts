/** A chain of trust over generated zones. Its queries are answered from a table. */
import { Budget } from '../../../dns-worker/dnssec/budget.ts';
import { type Fetched, type ShareCuts, TrustChain } from '../../../dns-worker/dnssec/trust-chain.ts';
import type { SignedRRset } from '../../../dns-worker/dnssec/answer-records.ts';
import { rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { readTrustAnchors } from '../../../shared/dns/trust-anchors.ts';
import { TestClock } from '../parts/test-clock.ts';
import { wireName } from './built-messages.ts';
import { signedSets } from './record-text.ts';
import type { TestZone } from './test-zone.ts';
import { INCEPTION } from './test-zone.ts';
import { CHILD, ROOT, SOA, TEST } from './validation-fixture.ts';

/**
 * `test` and `child.test` are signed zones, `open.test` is an unsigned one; `www.test`, `sub.test` and `a.sub.test` are
 * not zones; the root is the anchor.
 */
export class ChainTable {
  /** Questions, `name TYPE`. */
  readonly asked: string[] = [];
  readonly clock = new TestClock();
  readonly chain: TrustChain;
  private readonly answers = new Map<string, readonly SignedRRset[] | null>();

  /** `share` is passed to `TrustChain`. */
  constructor(
    anchors: readonly TestZone[] = [ROOT],
    negativeAnchors: readonly string[] = [],
    share?: ShareCuts,
  ) {
    this.clock.wallMs = (INCEPTION + 1000) * 1000;
    const points = {
      anchors: anchors.flatMap(({ ds }) => readTrustAnchors(ds)),
      negativeAnchors: negativeAnchors.map(wireName),
    };
    const fetch = (name: Uint8Array, type: number): Promise<Fetched | null> => {
      const key = `${nameToText(name)} ${rrTypeName(type)}`;
      this.asked.push(key);
      const sets = this.answers.get(key) ?? null;
      return Promise.resolve(sets === null ? null : { sets, upstream: 0 });
    };
    this.chain = new TrustChain(points, fetch, this.clock, share);
    this.on('. DNSKEY', ROOT.signed(ROOT.dnskey))
      .on('test DS', ROOT.signed(TEST.ds))
      .on('test DNSKEY', TEST.signed(TEST.dnskey))
      .on('child.test DS', TEST.signed(CHILD.ds))
      .on('child.test DNSKEY', CHILD.signed(CHILD.dnskey))
      .on('open.test DS', '', TEST.signed(`${SOA}\nopen.test 300 NSEC p.test NS RRSIG NSEC`))
      .on('svc.test DS', '', TEST.signed('sub.test 300 NSEC t.test A RRSIG NSEC'));
    for (const name of ['www.test', 'sub.test', 'a.sub.test'])
      this.on(`${name} DS`, '', TEST.signed(`${name} 300 NSEC x.test A RRSIG NSEC`));
  }

  /** Sets the answer to a question. */
  on(question: string, answers: string, authority = ''): this {
    this.answers.set(question, signedSets(answers, authority));
    return this;
  }

  /** Removes the answer to a question. */
  off(question: string): void {
    this.answers.delete(question);
  }

  /** Returns the questions so far and clears the list. */
  takeAsked(): string[] {
    return this.asked.splice(0);
  }

  /** Budget of a question. Its time does not expire until the test advances the clock by seconds. */
  budget(): Budget {
    return new Budget(this.clock.monotonicMs() + 3000);
  }
}
