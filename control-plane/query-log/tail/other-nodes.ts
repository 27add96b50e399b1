/**
 * Provides the rows of other nodes, and rows that this node stores late: NOTIFY announces each stored block, which is
 * then read from the database. Rows of this node that came from the gatherer are skipped.
 */
import type { Database } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { fetchBlockOf, type Piece } from '../search/stored-block.ts';
import { nodeNames } from '../reading/query-log-store.ts';
import { BLOCK_CHANNEL, type BlockNotice, type OwnRun, readBlockNotice } from '../store/block-store.ts';
import { type HostnameOf, TailBatch } from './tail-batch.ts';

export interface OtherNodesParts {
  readonly database: Database;
  readonly run: OwnRun;
  readonly hostnameOf: HostnameOf;
  /** Receives the rows of a block. */
  readonly show: (batch: TailBatch) => void;
  /** Called with the number of rows that were skipped. */
  readonly leaveOut: (rows: number) => void;
}

/** Maximum number of blocks that wait to be read, and that are read per call. */
const MAX_WAITING = 64;
const MAX_AT_ONCE = 4;
const ALL_PIECES: ReadonlySet<Piece> = new Set(['names', 'queries', 'answers']);

/** Listens while it is started. */
export class OtherNodes {
  private readonly parts: OtherNodesParts;
  private waiting: BlockNotice[] = [];
  private isReading = false;
  private names: ReadonlyMap<number, string> = new Map();
  private stopListening: () => void;

  constructor(parts: OtherNodesParts) {
    this.parts = parts;
    this.stopListening = parts.database.listen(BLOCK_CHANNEL, (payload) => this.hear(payload));
  }

  /** Stops permanently. */
  stop(): void {
    this.stopListening();
    this.waiting = [];
  }

  /** Reads some of the announced blocks, unless an earlier call is still reading. */
  async read(): Promise<void> {
    if (this.isReading || this.waiting.length === 0) return;
    this.isReading = true;
    try {
      for (const notice of this.waiting.splice(0, MAX_AT_ONCE)) await this.readOne(notice);
    } finally {
      this.isReading = false;
    }
  }

  private hear(payload: string): void {
    const notice = readBlockNotice(payload);
    if (notice === null) return;
    const { run } = this.parts;
    if (notice.runKey === run.key) {
      run.id = notice.runId;
      return;
    }
    this.waiting.push(notice);
    if (this.waiting.length > MAX_WAITING) this.parts.leaveOut(this.waiting.shift()!.rowCount);
  }

  private async readOne(notice: BlockNotice): Promise<void> {
    const { database, hostnameOf, show, leaveOut } = this.parts;
    const { runId, firstSeq: seq, rowCount, hourUs } = notice;
    try {
      // The block may have been merged into a larger one.
      const stored = await fetchBlockOf(database, { runId, seq, hourUs }, ALL_PIECES);
      if (stored === null) return;
      const node = await this.nameOf(stored.nodeId);
      const { firstSeq } = stored;
      show(new TailBatch(stored, { node, runId, firstSeq, hostnameOf }, seq - firstSeq, rowCount));
    } catch (error) {
      leaveOut(rowCount);
      // A damaged block is reported when a request reads it.
      if (!(error instanceof DamagedBlock || error instanceof DatabaseUnavailable)) throw error;
    }
  }

  private async nameOf(nodeId: number): Promise<string> {
    if (!this.names.has(nodeId)) this.names = await nodeNames(this.parts.database);
    return this.names.get(nodeId) ?? '';
  }
}
