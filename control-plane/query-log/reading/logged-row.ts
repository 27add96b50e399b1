/** One row of the log by its id: the run and the number in it, wherever its block lies now. */
import { reasonOf } from '../../../shared/thrown.ts';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { BlockReader } from '../block/block-reader.ts';
import { findBlockOf, type Piece } from '../search/stored-block.ts';
import { converterOf } from './logged-queries.ts';
import type { LogSource } from './log-source.ts';
import { nameOf } from '../sums/log-sums.ts';
import { placeOfId } from './page-scan.ts';
import { nodeNames } from './query-log-store.ts';

const ALL_PIECES: ReadonlySet<Piece> = new Set(['head', 'names', 'queries', 'answers']);

/** The row without its host name; null if there is none, or none any more. */
export function readLoggedRow(log: LogSource, id: number): Promise<LoggedQuery | null> {
  return log.read(async (tx) => {
    const place = placeOfId(id);
    const stored = place === null ? null : await findBlockOf(tx, place, ALL_PIECES);
    if (place === null || stored === null) return null;
    const names = await nodeNames(tx);
    try {
      const block = new BlockReader(stored);
      const convert = converterOf(block, { nodeOf: (node) => names.get(node) ?? '' });
      const row = place.seq - stored.firstSeq;
      return convert({ block, nodeId: stored.nodeId, row, timestampUs: block.times()[row]!, id });
    } catch (error) {
      if (!(error instanceof DamagedBlock)) throw error;
      log.onDamaged(nameOf(stored), reasonOf(error));
      return null;
    }
  });
}
