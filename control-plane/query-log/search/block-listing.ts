/** Which blocks there are in the ranges that a period is made of, and the content of small ones that came. */
import type { Queryable } from '../../db/database.ts';
import type { BlockRange } from '../names/list-parts.ts';
import { ChangedRows, type RowRange, type TableRows } from './changed-rows.ts';
import {
  BLOCK_COLUMNS,
  BLOCK_VALUES,
  type BlockValues,
  dateOfMoment,
  fromValues,
  momentOf,
  type StoredBlock,
} from './stored-block.ts';

/** A block. */
export interface ListedBlock {
  /** Without content. */
  readonly block: StoredBlock;
  /** Of this block and no other. */
  readonly key: string;
  /** The lists that count it (migrations/0001_schema.sql). */
  readonly listed: string | null;
}

/** What statistics need of a block that came, if it is small: then it need not be asked for. */
export type FreshContent = Pick<StoredBlock, 'head' | 'names'>;

/** The blocks of a period. */
export interface FoundBlocks {
  /** By range, in no order. */
  readonly ranges: readonly (readonly ListedBlock[])[];
  /** By the keys of blocks, of some only. */
  readonly fresh: ReadonlyMap<string, FreshContent>;
}

interface ReadBlock extends ListedBlock {
  /** Taken at once, since the row stays. */
  fresh: FreshContent | null;
}

type FreshValues = readonly [listed: string | null, head: string | null, names: string | null];

/** Bytes. */
const MOST_FRESH = 16 * 1024;
const FRESH = (column: string): string =>
  `CASE WHEN $1::text <> '0' AND octet_length(head) + octet_length(names) <= ${MOST_FRESH} THEN encode(${column}, 'base64') END`;

const BLOCKS: TableRows<ReadBlock> = {
  table: 'query_blocks',
  columns: `${BLOCK_COLUMNS}, listed, head, names`,
  values: [...BLOCK_VALUES, 'listed', ...['head', 'names'].map(FRESH)],
  // The queries that it has, and what counts it.
  digest: `hashint8extended(first_seq, (run_id::bigint << 32) + row_count * 128 + coalesce(ascii(listed::text), 0))`,
  keyOf: ({ block: { runId, firstSeq } }) => `${runId}.${firstSeq}`,
  toRow: (values, digest) => {
    const block = fromValues(values.slice(0, BLOCK_VALUES.length) as unknown as BlockValues);
    const [listed, head, names] = values.slice(BLOCK_VALUES.length) as unknown as FreshValues;
    return {
      ...{ block, listed },
      key: `${block.runId}.${block.firstSeq}.${digest}.${block.checksums.join()}`,
      fresh: head === null || names === null ? null : { head: toBytes(head), names: toBytes(names) },
    };
  },
};

/** The blocks of the ranges of a period, asked for again and again. */
export class BlockListing {
  private readonly rows = new ChangedRows(BLOCKS);

  /** Null if there are too many. */
  async read(tx: Queryable, ranges: readonly BlockRange[]): Promise<FoundBlocks | null> {
    const found = await this.rows.read(tx, ranges.map(toRowRange)); // prettier-ignore
    if (found === null) return null;
    const fresh = new Map<string, FreshContent>();
    for (const block of found.flat()) {
      if (block.fresh !== null) fresh.set(block.key, block.fresh);
      block.fresh = null;
    }
    return { ranges: found, fresh };
  }
}

function toBytes(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

const UNLISTED = { any: ' AND listed IS NULL', hour: ` AND listed IS DISTINCT FROM 'h'` } as const;

function toRowRange({ fromUs, toUs, unlisted }: BlockRange): RowRange<ReadBlock> {
  return {
    sql: (put) => {
      return `day >= ${put(dateOfMoment(fromUs))}::date AND day <= ${put(dateOfMoment(toUs))}::date
        AND last_time >= ${put(momentOf(fromUs))}::timestamptz AND first_time < ${put(momentOf(toUs))}::timestamptz${unlisted === null ? '' : UNLISTED[unlisted]}`;
    },
    holds: ({ block: { firstUs, lastUs }, listed }) => {
      const isLeftOut = unlisted === 'any' ? listed !== null : unlisted === 'hour' && listed === 'h';
      return !isLeftOut && lastUs >= fromUs && firstUs < toUs;
    },
  };
}
