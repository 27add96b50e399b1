/** Rows of the query log for tests. */
import type { QueryLogRow } from '../../../control-plane/query-log/attribution/row.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { DnssecStatus, Protocol, QueryStatus } from '../../../shared/query-log.ts';

/** Wire form of a name that a test wrote down. */
export function wireName(text: string): Uint8Array {
  const wire = nameFromText(text);
  if (wire === null) throw new Error(`read name ${text}: not a name`);
  return wire;
}

/** What a test says of a row, the way a person would. */
export interface RowInWords extends Omit<
  QueryLogRow,
  'bytes' | 'client' | 'qname' | 'rule' | 'ruleName' | 'answers'
> {
  readonly client: Uint8Array;
  readonly qname: Uint8Array;
  readonly blockSource: string | null;
  readonly blockRule: string | null;
  readonly answers: Uint8Array | null;
}

/** A row of an ordinary answer from the cache, changed as a test wants it. */
export function logRow(change: Partial<RowInWords> = {}): QueryLogRow {
  const { client, qname, blockSource, blockRule, answers, ...numbers }: RowInWords = {
    timestampMs: Date.UTC(2026, 6, 5, 12),
    client: Uint8Array.of(192, 0, 2, 7),
    groupId: 1,
    qname: wireName('www.example.org'),
    qtype: 1,
    protocol: Protocol.udp,
    status: QueryStatus.CACHED,
    rcode: 0,
    dnssec: DnssecStatus.unchecked,
    responseTimeUs: 42,
    cached: true,
    blockSource: null,
    blockRule: null,
    upstream: null,
    answers: null,
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
        : { source: blockSource, before: blockRule ?? '', after: '', atName: false },
    ruleName: { at: 0, length: 0 },
  };
}
