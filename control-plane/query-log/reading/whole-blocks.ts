/**
 * Small blocks from which a page is about to show rows: they are fetched completely once, instead of in parts for each
 * step of reading the page.
 */
import { type Piece, sizeOf, type StoredBlock, type Wanted } from '../search/stored-block.ts';

/** All pieces of a block that are needed to show its rows. */
export const ALL_PIECES: ReadonlySet<Piece> = new Set(['head', 'names', 'queries', 'answers']);
const NOTHING: ReadonlySet<Piece> = new Set();
/**
 * Maximum size in bytes of such a block, and of all of them together. The latter is also the maximum size of one fetch
 * of other blocks.
 */
const MAX_BYTES = 1024 * 1024;
const MAX_TOGETHER = 4 * 1024 * 1024;

/** The blocks of one page. */
export class WholeBlocks {
  /** Number of rows that the page still needs. */
  missingRows = 0;
  private freeBytes = MAX_TOGETHER;
  private readonly asked = new Set<string>();
  private readonly blocks = new Map<string, StoredBlock>();

  /**
   * Pieces to fetch now of a block whose rows all match: all pieces if the page needs the block and it is small, or
   * none.
   */
  ask(block: StoredBlock): ReadonlySet<Piece> {
    const bytes = sizeOf({ block, pieces: ALL_PIECES });
    if (this.missingRows <= 0 || bytes > Math.min(MAX_BYTES, this.freeBytes)) return NOTHING;
    this.missingRows -= block.rowCount;
    this.freeBytes -= bytes;
    this.asked.add(keyOf(block));
    return ALL_PIECES;
  }

  /** Stores a block that was fetched; returns whether it is complete. */
  keep(block: StoredBlock): boolean {
    const isWhole = this.asked.has(keyOf(block));
    if (isWhole) this.blocks.set(keyOf(block), block);
    return isWhole;
  }

  find(block: StoredBlock): StoredBlock | undefined {
    return this.blocks.get(keyOf(block));
  }
}

function keyOf({ runId, firstSeq }: StoredBlock): string {
  return `${runId}.${firstSeq}`;
}

/** Divides blocks into portions that are fetched one after another, so that few are in memory at the same time. */
export function* inPortions<T extends Wanted>(all: readonly T[]): Generator<T[]> {
  let portion: T[] = [];
  let bytes = 0;
  for (const wanted of all) {
    const size = sizeOf(wanted);
    if (portion.length > 0 && bytes + size > MAX_TOGETHER) {
      yield portion;
      [portion, bytes] = [[], 0];
    }
    portion.push(wanted);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}
