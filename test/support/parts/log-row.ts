/** Rows of the query log for tests. */
import { type QueryLogRow, UNKNOWN_ANSWER } from '../../../control-plane/query-log/rows/row.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { DnssecStatus, Exclusion, Protocol, QueryStatus } from '../../../shared/query-log.ts';

const MAX_KNOWN = 10_000;
/** Cached, because tests use the same few thousand names a hundred thousand times. */
const known = new Map<string, Uint8Array>();

/** Wire form of a name as text; the result must not be changed. */
export function wireName(text: string): Uint8Array {
  const wire = known.get(text) ?? nameFromText(text);
  if (wire === null) throw new Error(`read name ${text}: not a name`);
  if (known.size < MAX_KNOWN) known.set(text, wire);
  return wire;
}

/** A row of the log in a form that is easy to read in tests. */
export interface RowInWords extends Omit<
  QueryLogRow,
  'bytes' | 'client' | 'qname' | 'rule' | 'ruleName' | 'alias' | 'answers'
> {
  readonly client: Uint8Array;
  readonly qname: Uint8Array;
  readonly blockSource: string | null;
  readonly blockRule: string | null;
  /** Lists that contain the rule. */
  readonly lists: readonly number[];
  readonly answers: Uint8Array | null;
}

/** A row of an ordinary answer from the cache, with the given changes. */
export function logRow(change: Partial<RowInWords> = {}): QueryLogRow {
  const { client, qname, blockSource, blockRule, lists, answers, ...numbers }: RowInWords = {
    timestampMs: Date.UTC(2026, 6, 5, 12),
    client: Uint8Array.of(192, 0, 2, 7),
    groupId: 1,
    clientId: 0,
    qname: wireName('www.example.org'),
    qtype: 1,
    protocol: Protocol.udp,
    status: QueryStatus.CACHED,
    exclusion: Exclusion.NONE,
    rcode: 0,
    dnssec: DnssecStatus.unchecked,
    responseTimeUs: 42,
    cached: true,
    blockSource: null,
    blockRule: null,
    lists: [],
    upstream: null,
    answers: null,
    answerType: UNKNOWN_ANSWER,
    extendedError: -1,
    origin: null,
    ...change,
  };
  const answersLength = answers?.length ?? 0;
  return {
    ...numbers,
    bytes: Buffer.concat([client, qname, answers ?? new Uint8Array(0)]),
    client: { at: 0, length: client.length },
    qname: { at: client.length, length: qname.length },
    answers: { at: client.length + qname.length, length: answersLength },
    rule:
      blockSource === null
        ? null
        : { source: blockSource, before: blockRule ?? '', after: '', atName: false, lists },
    ruleName: { at: 0, length: 0 },
    alias: { at: 0, length: 0 },
  };
}
