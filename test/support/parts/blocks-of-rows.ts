/** Blocks of the query log for tests: rows in a readable form, and a reader that knows only the layout. */
import { zstdDecompressSync } from 'node:zlib';
import {
  type LoggedRule,
  type QueryLogRow,
  UNKNOWN_ANSWER,
} from '../../../control-plane/query-log/rows/row.ts';
import { encodeBlock, sealBlock } from '../../../control-plane/query-log/block/block-encoder.ts';
import type { BlockHead, EncodedBlock } from '../../../control-plane/query-log/block/block-layout.ts';
import { type StoredParts, OpenBlock } from '../../../control-plane/query-log/block/open-block.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { addressToText } from '../../../shared/net/ip.ts';
import { DNSSEC_STATUS_NAMES, PROTOCOL_NAMES, QUERY_STATUS_NAMES } from '../../../shared/query-log.ts';

/** Start of the hour of all these blocks, Unix milliseconds. */
export const HOUR_MS = Date.UTC(2026, 10, 22, 10);
/** Settings that log everything. */
export const ALL: StoredParts = { ipv4Bytes: 4, ipv6Bytes: 16, answers: true, clientIds: true };

/** The open block, which is reused for all blocks because its columns are large. */
const open = new OpenBlock();

/** Rows as a stored block. */
export function blockOf(rows: readonly QueryLogRow[], kept: StoredParts = ALL): Promise<EncodedBlock> {
  open.clear();
  for (const row of rows) addRow(open, row, kept);
  return encodeBlock(sealBlock(open));
}

/** Adds a row, with the time that the row contains. */
export function addRow(open: OpenBlock, row: QueryLogRow, kept: StoredParts = ALL): void {
  open.add(row, Math.round(row.timestampMs * 1000), kept);
}

/** A row in readable form. */
export interface Words {
  readonly timestampUs: number;
  readonly client: string;
  readonly group: number;
  readonly clientId: number;
  readonly name: string;
  readonly source: string | null;
  readonly rule: string | null;
  readonly alias: string | null;
  readonly lists: readonly number[];
  readonly outcome: readonly unknown[];
  readonly responseTimeUs: number;
  readonly answers: string;
}

/** Converts a row to the readable form. */
export function inWords(row: QueryLogRow): Words {
  const { bytes, client, qname, rule, ruleName, alias, answers } = row;
  const address = new Uint8Array(16).fill(0xff, 10, 12);
  address.set(bytes.subarray(client.at, client.at + client.length), 16 - client.length);
  if (client.length === 16) address.set(bytes.subarray(client.at, client.at + 16));
  const atName = rule?.atName === true ? nameToText(bytes.subarray(ruleName.at)) + rule.after : '';
  return {
    timestampUs: Math.round(row.timestampMs * 1000),
    client: addressToText(address),
    group: row.groupId,
    clientId: row.clientId,
    name: nameToText(bytes.subarray(qname.at)),
    source: rule?.source.replaceAll('\0', '') ?? null,
    rule: rule === null ? null : rule.before + atName,
    alias:
      rule === null ? null : aliasOf(rule, alias.length === 0 ? '' : nameToText(bytes.subarray(alias.at))),
    lists: rule?.lists ?? [],
    outcome: [
      row.qtype,
      QUERY_STATUS_NAMES[row.status],
      row.rcode,
      PROTOCOL_NAMES[row.protocol],
      DNSSEC_STATUS_NAMES[row.dnssec],
      row.cached,
      row.upstream,
      ...(row.answerType === UNKNOWN_ANSWER ? [] : [row.answerType, row.extendedError, row.origin]),
    ],
    responseTimeUs: row.responseTimeUs,
    answers: Buffer.from(bytes.subarray(answers.at, answers.at + answers.length)).toString('hex'),
  };
}

/** The alias that belongs to a row. In a row that was read from a block, the alias is in its rule. */
function aliasOf({ atName, after }: LoggedRule, alias: string): string | null {
  return alias || (atName ? '' : after) || null;
}

/** A reader that knows only the layout and shares no code with Weir. */
export function naiveRows(block: EncodedBlock): Words[] {
  const stored = Buffer.concat([block.head, block.names, block.queries, block.answers ?? Buffer.alloc(0)]);
  let at = 0;
  const frames = block.lengths.map((length) => zstdDecompressSync(stored.subarray(at, (at += length))));
  const head = JSON.parse(frames[0]!.toString()) as BlockHead;
  const n = head.rows;
  const column = (bytes: Buffer, width: number, count = n, from = 0): number[] =>
    Array.from({ length: count }, (_, i) => {
      let value = 0;
      for (let plane = width - 1; plane >= 0; plane--) value = value * 256 + bytes[from + plane * count + i]!;
      return value;
    });
  const texts = frames[1]!.toString('latin1').split('\n');
  const rules = column(frames[2]!, 2, head.names, head.names * 4);
  const offsets = column(frames[2]!, 2, head.names, head.names * 6);
  let time = 0n;
  const times = column(frames[3]!, 4).map((zigzag) => {
    const delta = zigzag % 2 === 0 ? BigInt(zigzag / 2) : -BigInt((zigzag + 1) / 2);
    time = BigInt.asUintN(32, time + delta);
    return Number(time);
  });
  const [names, clients, outcomes] = [4, 5, 6].map((frame) => column(frames[frame]!, 2));
  const responseTimes = column(frames[7]!, 4);
  const answers = frames.length > 8 ? naiveAnswers(frames, head.answers, column) : () => '';
  return Array.from({ length: n }, (_, i) => {
    const name = names![i]!;
    const rule = rules[name] === 0 ? null : head.rules[rules[name]! - 1]!;
    const [address, group, , , clientId = 0] = head.clients[clients![i]!]!;
    return {
      timestampUs: head.hour_us + times[i]!,
      client: address,
      group,
      clientId,
      name: texts[name]!,
      source: rule === null ? null : rule[0],
      rule:
        rule === null
          ? null
          : rule[1] + (rule[2] ? (texts[name]!.slice(offsets[name]) || '.') + rule[3] : ''),
      alias: rule === null || rule[2] ? null : rule[3] || null,
      lists: rule?.[4] ?? [],
      outcome: withoutCount(head.outcomes[outcomes![i]!]!),
      responseTimeUs: responseTimes[i]!,
      answers: answers(i),
    };
  });
}

function withoutCount(outcome: readonly unknown[]): readonly unknown[] {
  return outcome.filter((_, at) => at !== 7);
}

function naiveAnswers(
  frames: Buffer[],
  count: number,
  column: (bytes: Buffer, width: number, count?: number) => number[],
): (row: number) => string {
  const places = column(frames[8]!, 2);
  const ttls = column(frames[9]!, 4);
  const lengths = column(frames[10]!, 2, count);
  const forms = frames[10]!.subarray(count * 2, count * 3);
  let at = count * 3;
  const entries = lengths.map((length) => frames[10]!.subarray(at, (at += length)));
  return (row) => {
    const place = places[row]! - 1;
    if (place < 0) return '';
    const records = Buffer.from(entries[place]!);
    if (forms[place] === 1) return records.toString('hex');
    for (let from = 0; from < records.length;) {
      while (records[from]! > 0 && records[from]! < 0xc0) from += records[from]! + 1;
      from += records[from] === 0 ? 1 : 2;
      records.writeUInt32BE(records.readUInt32BE(from + 4) + ttls[row]!, from + 4);
      from += 10 + records.readUInt16BE(from + 8);
    }
    return records.toString('hex');
  };
}
