/** Rows of one block for the readers of the live tail: filtered, and encoded as JSON once for all readers. */
import { BlockReader } from '../block/block-reader.ts';
import type { RawBlock } from '../block/block-encoder.ts';
import type { EncodedBlock } from '../block/block-layout.ts';
import { BlockFilter, type TimeSpan } from '../search/block-filter.ts';
import type { QueryFilter } from '../search/query-conditions.ts';
import { converterOf, type RowPlace } from '../reading/logged-queries.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import type { LogSelection } from '../reading/log-request.ts';
import { NEWEST_US, OLDEST_US } from '../reading/page-scan.ts';

const SEQ_FACTOR = 0x1_0000_0000;

export type HostnameOf = (address: string, clientId: number | null) => string | null;

/** Origin of rows. */
export interface TailOrigin {
  /** Name of the node. */
  readonly node: string;
  /** Null until the database has assigned an id to the run. */
  readonly runId: number | null;
  /** Sequence number of the first row of the block. */
  readonly firstSeq: number;
  /** Host name of a client's address, or of the client that identified itself, if any. */
  readonly hostnameOf: HostnameOf;
}

/** The filter of a stream. */
export class TailFilter {
  private readonly filter: BlockFilter;
  private readonly span: TimeSpan;
  private readonly nodes: Pick<LogSelection, 'node' | 'notNode'>;

  constructor(selection: LogSelection & QueryFilter) {
    const { from, to, node, notNode } = selection;
    this.filter = new BlockFilter(selection);
    this.span = {
      fromUs: from === null ? OLDEST_US : from.getTime() * 1000,
      toUs: to === null ? NEWEST_US : to.getTime() * 1000,
    };
    this.nodes = { node, notNode };
  }

  /** Indexes of the matching rows, in the order of the block. */
  rows(block: BlockReader, ofNode: string): number[] {
    const { node, notNode } = this.nodes;
    if ((node !== undefined && node !== ofNode) || ofNode === notNode) return [];
    return this.filter.rows(block, this.span);
  }
}

/** A row as it is sent. */
export interface TailRow {
  readonly text: string;
  readonly timestampUs: number;
  readonly id: number | null;
}

/** `count` rows of a block, starting at index `from`. */
export class TailBatch {
  private readonly block: BlockReader;
  private readonly origin: TailOrigin;
  private readonly from: number;
  private readonly end: number;
  private readonly shown = new Map<number, TailRow>();
  private convert: ((place: RowPlace) => LoggedQuery) | undefined;
  private times: Float64Array | undefined;

  /** @throws {DamagedBlock} */
  constructor(block: EncodedBlock | RawBlock, origin: TailOrigin, from = 0, count = block.rowCount) {
    this.block = new BlockReader(block);
    this.origin = origin;
    this.from = from;
    this.end = from + count;
  }

  /** Indexes of the rows that match a filter. @throws {DamagedBlock} */
  rows(filter: TailFilter): number[] {
    const rows = filter.rows(this.block, this.origin.node);
    const isWhole = this.from === 0 && this.end >= this.block.head.rows;
    return isWhole ? rows : rows.filter((row) => row >= this.from && row < this.end);
  }

  /** The row at an index. @throws {DamagedBlock} */
  row(place: number): TailRow {
    const known = this.shown.get(place);
    if (known !== undefined) return known;
    const { node, runId, firstSeq, hostnameOf } = this.origin;
    this.convert ??= converterOf(this.block, { nodeOf: () => node });
    this.times ??= this.block.times();
    const timestampUs = this.times[place]!;
    const id = runId === null ? null : runId * SEQ_FACTOR + firstSeq + place;
    const shown = this.convert({ block: this.block, nodeId: 0, row: place, timestampUs, id: id ?? 0 });
    const hostname = hostnameOf(shown.client, shown.client_id);
    const text = JSON.stringify({ ...shown, id, client_hostname: hostname });
    const row = { text, timestampUs, id };
    this.shown.set(place, row);
    return row;
  }
}
