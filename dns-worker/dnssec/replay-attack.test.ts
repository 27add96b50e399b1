/**
 * An upstream that randomly combines signed data of zones, unsigned data, and true answers: only true data of signed
 * zones may reach clients.
 */
import { describe, expect, test } from '@jest/globals';
import { Rcode, rrTypeName } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { readTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { question, response, type TestRecord } from '../../test/support/dns/built-messages.ts';
import { Nsec3Chain } from '../../test/support/dns/nsec3-chain.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { readRecords } from '../../test/support/dns/record-text.ts';
import { INCEPTION, TestZone } from '../../test/support/dns/test-zone.ts';
import type { Question } from '../resolve/response/question.ts';
import type { Resolution } from '../resolve/resolution.ts';
import { readResponse } from '../resolve/response/response-reader.ts';
import { readRRsets } from './answer-records.ts';
import { type QuestionResolver, ValidatingResolver } from './validating-resolver.ts';

const ROOT = new TestZone('.');
const TEST = new TestZone('test');
const CHILD = new TestZone('child.test');
const SOA = (zone: string): string => `${zone} 300 SOA ns.test root.test 1 2 3 4 300`;
const CHAIN = new Nsec3Chain(
  'child.test',
  { iterations: 3, salt: 'aabb' },
  {
    'child.test': 'NS SOA RRSIG DNSKEY NSEC3PARAM',
    'www.child.test': 'A RRSIG',
    'e.child.test': '',
    'f.e.child.test': 'A RRSIG',
  },
);

/** All RRsets that the zones have signed. */
const SIGNED = {
  rootKeys: ROOT.signed(ROOT.dnskey),
  testDs: ROOT.signed(TEST.ds),
  testKeys: TEST.signed(TEST.dnskey),
  testSoa: TEST.signed(SOA('test')),
  apexNsec: TEST.signed('test 300 NSEC alias.test SOA NS RRSIG NSEC DNSKEY'),
  alias: TEST.signed('alias.test 300 CNAME www.child.test'),
  aliasNsec: TEST.signed('alias.test 300 NSEC a.b.test CNAME RRSIG NSEC'),
  deep: TEST.signed('a.b.test 300 A 192.0.2.1'),
  deepNsec: TEST.signed('a.b.test 300 NSEC child.test A RRSIG NSEC'),
  childDs: TEST.signed(CHILD.ds),
  cutNsec: TEST.signed('child.test 300 NSEC open.test NS DS RRSIG NSEC'),
  openNsec: TEST.signed('open.test 300 NSEC *.wild.test NS RRSIG NSEC'),
  wild: TEST.signed('*.wild.test 300 A 192.0.2.2'),
  wildNsec: TEST.signed('*.wild.test 300 NSEC www.test A RRSIG NSEC'),
  www: TEST.signed('www.test 300 A 192.0.2.3'),
  wwwNsec: TEST.signed('www.test 300 NSEC test A RRSIG NSEC'),
  childKeys: CHILD.signed(CHILD.dnskey),
  childSoa: CHILD.signed(SOA('child.test')),
  childWww: CHILD.signed('www.child.test 300 A 192.0.2.4'),
  ...Object.fromEntries(
    ['child.test', 'www.child.test', 'e.child.test', 'f.e.child.test'].map((name) => [
      `${name} NSEC3`,
      CHILD.signed(CHAIN.proof(name)),
    ]),
  ),
};
const POOL = Object.values(SIGNED);
const NSEC3S = POOL.filter((it) => it.includes(' NSEC3 '));

/** True answers of a correct server: records and denials. */
const TRUTH: Readonly<
  Record<string, { data?: string; rcode?: number; answers?: string[]; authorities?: string[] }>
> = {
  '. DNSKEY': { answers: [SIGNED.rootKeys] },
  'test DS': { answers: [SIGNED.testDs] },
  'test DNSKEY': { answers: [SIGNED.testKeys] },
  'child.test DS': { answers: [SIGNED.childDs] },
  'child.test DNSKEY': { answers: [SIGNED.childKeys] },
  'www.test DS': { authorities: [SIGNED.testSoa, SIGNED.wwwNsec] },
  'alias.test DS': { answers: [SIGNED.alias] },
  'b.test DS': { authorities: [SIGNED.testSoa, SIGNED.aliasNsec] },
  'a.b.test DS': { authorities: [SIGNED.testSoa, SIGNED.deepNsec] },
  'no.test DS': { rcode: Rcode.NXDOMAIN, authorities: [SIGNED.testSoa, SIGNED.cutNsec, SIGNED.apexNsec] },
  'wild.test DS': { authorities: [SIGNED.testSoa, SIGNED.openNsec] },
  'x.wild.test DS': { authorities: [SIGNED.testSoa, SIGNED.wildNsec] },
  'open.test DS': { authorities: [SIGNED.testSoa, SIGNED.openNsec] },
  'www.child.test DS': { authorities: [SIGNED.childSoa, ...NSEC3S] },
  'e.child.test DS': { authorities: [SIGNED.childSoa, ...NSEC3S] },
  'no.child.test DS': { rcode: Rcode.NXDOMAIN, authorities: [SIGNED.childSoa, ...NSEC3S] },
  'www.test A': { data: '192.0.2.3', answers: [SIGNED.www] },
  'www.test MX': { authorities: [SIGNED.testSoa, SIGNED.wwwNsec] },
  'b.test A': { authorities: [SIGNED.testSoa, SIGNED.aliasNsec] },
  'a.b.test A': { data: '192.0.2.1', answers: [SIGNED.deep] },
  'no.test A': { rcode: Rcode.NXDOMAIN, authorities: [SIGNED.testSoa, SIGNED.cutNsec, SIGNED.apexNsec] },
  'x.wild.test A': {
    data: '192.0.2.2',
    answers: [SIGNED.wild.replaceAll('*.wild', 'x.wild')],
    authorities: [SIGNED.wildNsec],
  },
  'alias.test A': { data: '192.0.2.4', answers: [SIGNED.alias, SIGNED.childWww] },
  'www.child.test A': { data: '192.0.2.4', answers: [SIGNED.childWww] },
  'www.child.test MX': { authorities: [SIGNED.childSoa, ...NSEC3S] },
  'e.child.test A': { authorities: [SIGNED.childSoa, ...NSEC3S] },
  'no.child.test A': { rcode: Rcode.NXDOMAIN, authorities: [SIGNED.childSoa, ...NSEC3S] },
};
const ASKED = Object.keys(TRUTH).filter(
  (key) => TRUTH[key]!.data !== undefined || !/ (DS|DNSKEY)$/.test(key),
);

/** A false answer to one question. */
interface Lie {
  readonly rcode: number;
  readonly answers: readonly string[];
  readonly authorities: readonly string[];
  /** Whether answers are moved to the queried name, as if they came from a wildcard. */
  readonly isMoved: boolean;
  readonly isForged: boolean;
  readonly signer: string;
}

const lie: fc.Arbitrary<Lie> = fc.record({
  rcode: fc.constantFrom(Rcode.NOERROR, Rcode.NOERROR, Rcode.NXDOMAIN),
  answers: fc.array(fc.constantFrom(...POOL), { maxLength: 2 }),
  authorities: fc.array(fc.constantFrom(...POOL), { maxLength: 5 }),
  isMoved: fc.boolean(),
  isForged: fc.boolean(),
  signer: fc.constantFrom('', '.', 'test', 'child.test', 'open.test'),
});

function records(texts: readonly string[]): TestRecord[] {
  return texts
    .flatMap(readRecords)
    .map(({ owner, type, ttlSecs, rdata }) => ({ owner, type, ttl: ttlSecs, rdata }));
}

function forged(name: string, type: string, signer: string): string {
  const shown = type === 'A' ? `${name} 300 A 192.0.2.66` : `${name} 300 CNAME evil.open.test`;
  const covered = type === 'A' ? 'A' : 'CNAME';
  const junk = `${name} 300 RRSIG ${covered} 15 1 300 ${String(INCEPTION + 600_000)} ${String(INCEPTION)} 4711 ${signer} ${'A'.repeat(86)}==`;
  return signer === '' ? shown : `${shown}\n${junk}`;
}

/** The true or false answer to a question, as the resolver reads it. */
function answerTo(asked: Question, chosen: Lie | undefined): Resolution {
  const name = nameToText(asked.qname);
  const type = rrTypeName(asked.qtype);
  const truth = TRUTH[`${name} ${type}`];
  let message: Uint8Array | null = null;
  if (chosen !== undefined) {
    const answers = records([
      ...chosen.answers,
      ...(chosen.isForged ? [forged(name, type, chosen.signer)] : []),
    ]);
    const moved = chosen.isMoved ? answers.map((it) => ({ ...it, owner: asked.qname })) : answers;
    message = response(asked, {
      flags: 0x8180 | chosen.rcode,
      answers: moved,
      authorities: records(chosen.authorities),
    });
  } else if (truth !== undefined) {
    const { rcode = Rcode.NOERROR, answers = [], authorities = [] } = truth;
    message = response(asked, {
      flags: 0x8180 | rcode,
      answers: records(answers),
      authorities: records(authorities),
    });
  }
  const reading = message === null ? null : readResponse(message, asked);
  if (reading?.kind === 'answer') return { kind: 'answer', answer: reading.answer, upstream: 0 };
  return { kind: 'failed', reason: 'network', rcode: Rcode.SERVFAIL, upstream: 0 };
}

/**
 * Sends queries through an upstream that returns each of these false answers once, in this order, and correct answers
 * afterwards.
 */
async function ask(key: string, anchors: string, lies: readonly (Lie | null)[]): Promise<Resolution> {
  const left = [...lies];
  const upstream: QuestionResolver = {
    resolve: (asked, done) => {
      const chosen = left.shift() ?? undefined;
      queueMicrotask(() => done(answerTo(asked, chosen)));
    },
  };
  const clock = { nowMs: () => (INCEPTION + 1000) * 1000, monotonicMs: () => 0 };
  const points = { anchors: readTrustAnchors(anchors), negativeAnchors: [] };
  const logger = new MemoryLogger();
  const resolver = new ValidatingResolver(upstream, points, { clock, timeoutMs: 3000 }, logger);
  const [name, type] = key.split(' ') as [string, 'A'];
  const resolution = await new Promise<Resolution>((done) => {
    resolver.resolve(question(name, type, { dnssecOk: true }), done);
  });
  expect(logger.lines).toEqual([]);
  return resolution;
}

function expectTruth(key: string, resolution: Resolution & { kind: 'answer' }): void {
  const { data, rcode = Rcode.NOERROR } = TRUTH[key]!;
  const { answer } = resolution;
  expect({ key, dnssec: resolution.dnssec }).toEqual({ key, dnssec: DnssecStatus.secure });
  expect({ key, rcode: answer.rcode, negative: answer.negative }).toEqual({
    key,
    rcode,
    negative: data === undefined,
  });
  const name = key.split(' ')[0]!;
  const sent = readRRsets(question(name, 'A').qname, answer)
    .filter((set) => set.isAnswer && set.type === 1)
    .flatMap((set) => set.rdatas.map((rdata) => rdata.join('.')));
  // A duplicate record has no additional meaning (RFC 2181 section 5).
  const addresses = [...new Set(sent)];
  // An answer whose alias leads to a name that is queried next may be incomplete.
  if (answer.leftOut !== undefined) for (const address of addresses) expect(address).toBe(data);
  else expect({ key, addresses }).toEqual({ key, addresses: data === undefined ? [] : [data] });
}

describe('ValidatingResolver with an upstream that replays signed records', () => {
  test.each(ASKED)('returns correct, secure data for %s', async (key) => {
    const resolution = await ask(key, ROOT.ds, []);
    if (resolution.kind !== 'answer') throw new Error(`it is ${resolution.reason}`);
    expectTruth(key, resolution);
  });

  test('returns only true data of signed zones, whatever records the upstream combines', async () => {
    let passed = 0;
    const property = fc.asyncProperty(
      fc.constantFrom(...ASKED),
      fc.constantFrom(ROOT.ds, TEST.dnskey, `${ROOT.ds}\n${CHILD.ds}`, `${TEST.ds}\n${CHILD.dnskey}`),
      fc.array(fc.option(lie, { freq: 2 }), { minLength: 1, maxLength: 6 }),
      async (key, anchors, lies) => {
        const resolution = await ask(key, anchors, lies);
        if (resolution.kind !== 'answer') return;
        passed++;
        expectTruth(key, resolution);
      },
    );
    await fc.assert(property, { numRuns: 300 });
    // Some combinations of the upstream must be true answers, which are accepted.
    expect(passed).toBeGreaterThan(10);
  });
});
