/**
 * Reads the distinct questions of a span from the stored log, newest block first, until a limit is reached; of older
 * blocks, only the rows are counted.
 */
import { reasonOf } from '../../../shared/errors.ts';
import type { LoggedQuestions } from '../../../shared/threads/simulation-messages.ts';
import { BlockReader } from '../block/block-reader.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import type { LogSource } from '../reading/log-source.ts';
import { nameOf } from '../sums/log-sums.ts';
import { BlockFilter } from '../search/block-filter.ts';
import { scanBlocks } from '../search/block-scan.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import type { Piece, StoredBlock } from '../search/stored-block.ts';
import { DistinctQuestions, type GatherLimits } from './distinct-questions.ts';

/** Selection of the questions to read. */
export interface QuestionsRequest {
  /** [fromMs, toMs), Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether to keep addresses in answers, because there are rules for addresses. */
  readonly withAddresses: boolean;
}

/** The questions of a span. */
export interface ReadQuestions {
  readonly questions: LoggedQuestions;
  /** Number of queries that the questions represent, and of queries that were refused before policy was applied. */
  readonly evaluated: number;
  readonly notEvaluated: number;
  /** Approximate number of queries in blocks that were not read. */
  readonly leftOut: number;
  /** Time of the oldest query that was read; null = no query was read. */
  readonly oldestMs: number | null;
  readonly damagedBlocks: number;
}

export interface ReadLimits extends GatherLimits {
  readonly rows: number;
}

/** Takes about five seconds and 60 MiB. */
export const READ_LIMITS: ReadLimits = { rows: 4_000_000, questions: 500_000, bytes: 32 * 1024 * 1024 };

const PIECES: ReadonlySet<Piece> = new Set(['head', 'texts', 'nameOf', 'clientOf', 'outcomeOf', 'answers']);
const PIECES_AND_TIMES: ReadonlySet<Piece> = new Set([...PIECES, 'times']);
const NOTHING: ReadonlySet<Piece> = new Set();

/** Reads the questions of a span. */
export function readQuestions(
  log: LogSource,
  request: QuestionsRequest,
  limits = READ_LIMITS,
): Promise<ReadQuestions> {
  return log.read((tx) => new QuestionScan(log, request, limits).read(tx));
}

class QuestionScan {
  private readonly log: LogSource;
  private readonly span: { readonly fromUs: number; readonly toUs: number };
  private readonly limits: ReadLimits;
  private readonly filter = new BlockFilter({});
  private readonly found: DistinctQuestions;
  private leftOut = 0;
  private oldestUs = Infinity;
  private damagedBlocks = 0;
  private rowsRead = 0;

  constructor(log: LogSource, { fromMs, toMs, withAddresses }: QuestionsRequest, limits: ReadLimits) {
    this.log = log;
    this.span = { fromUs: fromMs * 1000, toUs: toMs * 1000 };
    this.limits = limits;
    this.found = new DistinctQuestions(withAddresses, limits);
  }

  async read(tx: BlockTransaction): Promise<ReadQuestions> {
    const pieces = (block: StoredBlock): ReadonlySet<Piece> => {
      if (this.isFull) return NOTHING;
      return this.isWhole(block) ? PIECES : PIECES_AND_TIMES;
    };
    for await (const block of scanBlocks(tx, { ...this.span, reader: 'log', pieces })) {
      if (this.isFull) this.leftOut += block.rowCount + block.repeats;
      else this.add(block);
    }
    const { evaluated, notEvaluated } = this.found;
    const oldestMs = this.oldestUs === Infinity ? null : Math.floor(this.oldestUs / 1000);
    const { leftOut, damagedBlocks } = this;
    return { questions: this.found.shared(), evaluated, notEvaluated, leftOut, oldestMs, damagedBlocks };
  }

  private get isFull(): boolean {
    return this.found.isFull || this.rowsRead >= this.limits.rows;
  }

  private isWhole({ firstUs, lastUs }: StoredBlock): boolean {
    return firstUs >= this.span.fromUs && lastUs < this.span.toUs;
  }

  private add(block: StoredBlock): void {
    try {
      const reader = new BlockReader(block);
      const rows = this.isWhole(block) ? null : this.filter.rows(reader, this.span);
      this.found.add(reader, rows);
      this.rowsRead += rows?.length ?? block.rowCount;
      this.oldestUs = Math.min(this.oldestUs, Math.max(block.firstUs, this.span.fromUs));
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      this.damagedBlocks++;
      this.log.onDamaged(nameOf(block), reasonOf(error));
    }
  }
}
