/** Random rows of the query log with all possible fields, for property tests. */
import fc from 'fast-check';
import {
  type LoggedRule,
  type QueryLogRow,
  UNKNOWN_ANSWER,
} from '../../../control-plane/query-log/rows/row.ts';
import {
  Exclusion,
  DECISION_ORIGINS,
  type DnssecStatusCode,
  type ProtocolCode,
  QueryStatus,
  type QueryStatusCode,
} from '../../../shared/query-log.ts';

const label = fc.uint8Array({ minLength: 1, maxLength: 20 }).map(folded);
const labels = fc.array(label, { maxLength: 6 });
const ttl = fc.oneof(fc.nat(300), fc.constantFrom(0, 0x7fff_ffff, 0xffff_ffff));
const rdata = fc.uint8Array({ maxLength: 24 });

/** Resource records in wire form; the owner is the question or another name. */
const answers = fc
  .array(fc.tuple(fc.boolean(), fc.nat(0xffff), ttl, rdata), { maxLength: 4 })
  .map((records) => Buffer.concat(records.map(([isPointer, ...rest]) => record(isPointer, ...rest))));
const brokenAnswers = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));

const rule = fc.option(
  fc.record({
    source: fc.string({ unit: 'binary', maxLength: 10 }),
    before: fc.constantFrom('', '||', '@@||', 'ü'),
    atName: fc.boolean(),
    after: fc.constantFrom('', '^', '^$important'),
    lists: fc.subarray([1, 2, 30]),
  }),
  { nil: null },
);

/** A row with a time in the hour after `hourMs`. */
export function arbitraryLogRow(hourMs: number): fc.Arbitrary<QueryLogRow> {
  return fc
    .record({
      labels,
      rule,
      foreignRuleName: fc.option(labels, { nil: null }),
      ruleLabel: fc.nat(6),
      client: fc.oneof(
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
      ),
      answers: fc.oneof({ weight: 3, arbitrary: answers }, brokenAnswers),
      sinceHourUs: fc.nat(3_599_999_999),
      groupId: fc.integer({ min: 1, max: 0x7fff_ffff }),
      clientId: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 0x7fff_ffff })),
      qtype: fc.nat(0xffff),
      protocol: fc.nat(3),
      status: fc.nat(17),
      rcode: fc.nat(4095),
      dnssec: fc.nat(4),
      responseTimeUs: fc.nat(0xffff_ffff),
      cached: fc.boolean(),
      upstream: fc.option(fc.string({ maxLength: 12 }), { nil: null }),
      outcome: fc.oneof(fc.constant(NOT_KNOWN), knownOutcome),
    })
    .map((parts) => rowOf(parts, hourMs));
}

type OutcomeParts = Pick<QueryLogRow, 'answerType' | 'extendedError' | 'origin'>;

const NOT_KNOWN: OutcomeParts = { answerType: UNKNOWN_ANSWER, extendedError: -1, origin: null };
const knownOutcome: fc.Arbitrary<OutcomeParts> = fc.record({
  answerType: fc.nat(UNKNOWN_ANSWER - 1),
  extendedError: fc.integer({ min: -1, max: 254 }),
  origin: fc.option(fc.constantFrom(...DECISION_ORIGINS), { nil: null }),
});

interface Parts {
  readonly labels: Uint8Array[];
  readonly rule: LoggedRule | null;
  readonly foreignRuleName: Uint8Array[] | null;
  readonly ruleLabel: number;
  readonly client: Uint8Array;
  readonly answers: Buffer;
  readonly sinceHourUs: number;
  readonly groupId: number;
  readonly clientId: number;
  readonly qtype: number;
  readonly protocol: number;
  readonly status: number;
  readonly rcode: number;
  readonly dnssec: number;
  readonly responseTimeUs: number;
  readonly cached: boolean;
  readonly upstream: string | null;
  readonly outcome: OutcomeParts;
}

function rowOf(parts: Parts, hourMs: number): QueryLogRow {
  const qname = wire(parts.labels);
  const foreign = parts.foreignRuleName === null ? Buffer.alloc(0) : wire(parts.foreignRuleName);
  const bytes = Buffer.concat([parts.client, qname, parts.answers, foreign]);
  const qnameAt = parts.client.length;
  const answersAt = qnameAt + qname.length;
  const skipped = parts.labels.slice(0, parts.ruleLabel).reduce((sum, { length }) => sum + length + 1, 0);
  const ruleName =
    foreign.length > 0
      ? { at: answersAt + parts.answers.length, length: foreign.length }
      : { at: qnameAt + skipped, length: qname.length - skipped };
  const isAlias = foreign.length > 0 && parts.status === QueryStatus.BLOCKED_CNAME;
  return {
    bytes,
    alias: isAlias ? { ...ruleName } : { at: 0, length: 0 },
    timestampMs: hourMs + parts.sinceHourUs / 1000,
    client: { at: 0, length: parts.client.length },
    groupId: parts.groupId,
    clientId: parts.clientId,
    exclusion: Exclusion.NONE,
    qname: { at: qnameAt, length: qname.length },
    qtype: parts.qtype,
    protocol: parts.protocol as ProtocolCode,
    status: parts.status as QueryStatusCode,
    rcode: parts.rcode,
    dnssec: parts.dnssec as DnssecStatusCode,
    ...parts.outcome,
    responseTimeUs: parts.responseTimeUs,
    cached: parts.cached,
    rule: parts.rule,
    ruleName,
    upstream: parts.upstream,
    answers: { at: answersAt, length: parts.answers.length },
  };
}

function folded(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte));
}

function wire(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([...parts.map((part) => Buffer.from([part.length, ...part])), Buffer.from([0])]);
}

function record(isPointer: boolean, type: number, ttlSecs: number, data: Uint8Array): Buffer {
  const owner = isPointer ? Buffer.from([0xc0, 12]) : Buffer.from([1, 0x61, 0]);
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(ttlSecs, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, head, data]);
}
