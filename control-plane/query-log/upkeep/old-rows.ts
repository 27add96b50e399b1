/** Rows of the log of earlier versions as blocks. Pure. */
import { nameFromText } from '../../../shared/dns/name.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import {
  DNSSEC_STATUS_NAMES,
  type DnssecStatusCode,
  PROTOCOL_NAMES,
  type ProtocolCode,
  QUERY_STATUS_NAMES,
  type QueryStatusCode,
} from '../../../shared/query-log.ts';
import type { LoggedRule, QueryLogRow } from '../attribution/row.ts';
import { type RawBlock, sealBlock } from '../block/block-encoder.ts';
import { countMinutes, type MinuteCounts } from '../block/minute-counts.ts';
import { type Kept, OpenBlock } from '../block/open-block.ts';

/** A row of `query_log`. */
export interface OldRow {
  /** Microseconds since 1970. */
  readonly timestamp_us: number;
  readonly node_id: number;
  readonly group_id: number;
  readonly response_time_us: number;
  /** The qtype as a signed number of 16 bits. */
  readonly type: number;
  readonly rcode: number;
  readonly status: number;
  readonly protocol: number;
  readonly dnssec: number;
  readonly cached: boolean;
  readonly client: string;
  readonly domain: string;
  readonly block_source: string | null;
  readonly block_rule: string | null;
  readonly upstream: string | null;
  readonly answers: Buffer | null;
}

/** A block and what it adds to statistics. */
export interface OldBlock {
  readonly nodeId: number;
  readonly block: RawBlock;
  readonly minutes: readonly MinuteCounts[];
}

/** What privacy left out is gone already. */
const ALL: Kept = { ipv4Bytes: 4, ipv6Bytes: 16, answers: true, clientIds: true };
const NO_ANSWERS = Buffer.alloc(0);

/** Makes blocks of old rows; its memory is used again and again. */
export class OldRowPacker {
  private readonly open = new OpenBlock();
  /** The same objects for the same texts, as the block's dictionary wants them. */
  private readonly rules = new Map<string, LoggedRule>();

  /**
   * Blocks of rows of one hour, of each node in the order of the rows. `unreadable` gets those that are no queries: Weir
   * wrote no such rows.
   */
  pack(rows: readonly OldRow[], unreadable: (row: OldRow) => void): OldBlock[] {
    const nodeIds = [...new Set(rows.map(({ node_id }) => node_id))];
    const blocks = nodeIds.flatMap((nodeId) =>
      this.packNode(
        nodeId,
        rows.filter(({ node_id }) => node_id === nodeId),
        unreadable,
      ),
    );
    this.rules.clear();
    return blocks;
  }

  private packNode(nodeId: number, rows: readonly OldRow[], unreadable: (row: OldRow) => void): OldBlock[] {
    const { open } = this;
    const blocks: OldBlock[] = [];
    const seal = (): void => {
      if (open.rowCount > 0) blocks.push({ nodeId, block: sealBlock(open), minutes: countMinutes(open) });
      open.clear();
    };
    for (const old of rows) {
      const row = this.toRow(old);
      if (row === null) unreadable(old);
      else {
        if (open.isFull) seal();
        open.add(row, old.timestamp_us, ALL);
      }
    }
    seal();
    return blocks;
  }

  private toRow(old: OldRow): QueryLogRow | null {
    const client = addressFromText(old.client);
    const qname = nameFromText(old.domain);
    if (client === null || qname === null) return null;
    const answers = old.answers ?? NO_ANSWERS;
    const qnameAt = client.length;
    return {
      bytes: Buffer.concat([client, qname, answers]),
      timestampMs: old.timestamp_us / 1000,
      client: { at: 0, length: client.length },
      groupId: old.group_id,
      clientId: 0,
      qname: { at: qnameAt, length: qname.length },
      qtype: old.type & 0xffff,
      protocol: codeOf(old.protocol, PROTOCOL_NAMES) as ProtocolCode,
      status: codeOf(old.status, QUERY_STATUS_NAMES) as QueryStatusCode,
      rcode: old.rcode,
      dnssec: codeOf(old.dnssec, DNSSEC_STATUS_NAMES) as DnssecStatusCode,
      responseTimeUs: old.response_time_us,
      cached: old.cached,
      rule: this.ruleOf(old),
      ruleName: { at: 0, length: 0 },
      alias: { at: 0, length: 0 },
      upstream: old.upstream,
      answers: { at: qnameAt + qname.length, length: answers.length },
    };
  }

  private ruleOf({ block_source: source, block_rule: rule }: OldRow): LoggedRule | null {
    if (source === null) return null;
    const key = JSON.stringify([source, rule]);
    const known = this.rules.get(key);
    if (known !== undefined) return known;
    const made = { source, before: rule ?? '', atName: false, after: '', lists: [] };
    this.rules.set(key, made);
    return made;
  }
}

/** A number that a later version stored counts as the first, which is the likeliest. */
function codeOf(stored: number, names: readonly string[]): number {
  return stored in names ? stored : 0;
}
