/** Pages and single rows of the query log in the form of the API. `page-scan.ts` finds the rows of a page. */
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { DamagedBlock } from '../block/block-layout.ts';
import { BlockReader } from '../block/block-reader.ts';
import type { BlockRequest } from '../search/block-scan.ts';
import { findBlockOf } from '../search/stored-block.ts';
import { nameOf } from '../sums/log-sums.ts';
import type { LogSource } from './log-source.ts';
import { converterOf } from './logged-queries.ts';
import { type PageRow, PageScan, placeOfId, type QueryLogRequest } from './page-scan.ts';
import { decodeCursor, encodeCursor, type QueryLogCursor } from './query-log-cursor.ts';
import { ALL_PIECES } from './whole-blocks.ts';

/** Represents an unknown node; node ids are positive. */
const NO_NODE = -1;

/**
 * One page, newest first, without host names. The page includes two totals over all pages: the number of rows, and the
 * number of queries that they represent. Both are counted for the first page and stored in the cursor, so that further
 * pages do not count again.
 * @throws {InvalidCursor}
 */
export async function readQueryLog(log: LogSource, request: QueryLogRequest): Promise<QueryLogPage> {
  const cursor = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
  return log.read(async (tx) => {
    const scan = new PageScan(tx, request, log, await nodesOf(tx, request));
    const { places, totals } = await scan.read(cursor);
    const names = await nodeNames(tx);
    return {
      data: await scan.show(places, { nodeOf: (id) => names.get(id) ?? '' }),
      total: totals.rows,
      total_queries: totals.queries,
      limit: request.limit,
      offset: request.offset,
      ...cursorsOf(places, { totals, cursor, limit: request.limit }),
      damaged_blocks: scan.damagedBlocks,
    };
  });
}

/**
 * A row by its id, without its host name, even if its block was merged; null if no such row exists, or it was deleted.
 */
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

/**
 * Cursors of the adjacent pages. The cursor to newer rows is always present, because more rows arrive. The cursor to
 * older rows is null if a page of older rows is not full. An empty page has no rows, so its cursors refer to the row at
 * which it started.
 */
function cursorsOf(
  places: readonly PageRow[],
  {
    totals,
    cursor,
    limit,
  }: Pick<QueryLogCursor, 'totals'> & { cursor: QueryLogCursor | undefined; limit: number },
): Pick<QueryLogPage, 'next_cursor' | 'prev_cursor'> {
  const isNewer = cursor?.isNewer === true;
  const cursorAfter = (
    row: Pick<PageRow, 'timestampUs' | 'id'> | undefined,
    toNewer: boolean,
  ): string | null => {
    if (row !== undefined) return encodeCursor({ ...positionOf(row), totals, isNewer: toNewer });
    if (cursor === undefined) return null;
    // If the direction changes, the cursor is moved by one id, so that the new page begins with the row of the old
    // cursor.
    const turn = toNewer === isNewer ? 0 : toNewer ? -1 : 1;
    return encodeCursor({ ...cursor, id: cursor.id + turn, isNewer: toNewer });
  };
  const hasOlder = isNewer || places.length === limit;
  return {
    next_cursor: hasOlder ? cursorAfter(places.at(-1), false) : null,
    prev_cursor: cursorAfter(places[0], true),
  };
}

function positionOf({
  timestampUs,
  id,
}: Pick<PageRow, 'timestampUs' | 'id'>): Pick<PageRow, 'timestampUs' | 'id'> {
  return { timestampUs, id };
}

/** The filters on nodes, with node names replaced by ids; an unknown name matches no node. */
export async function nodesOf(
  tx: Queryable,
  { node, notNode }: Pick<QueryLogRequest, 'node' | 'notNode'>,
): Promise<Pick<BlockRequest, 'nodeId' | 'notNodeId'>> {
  if (node === undefined && notNode === undefined) return {};
  const ids = new Map([...(await nodeNames(tx))].map(([id, name]) => [name, id]));
  return {
    nodeId: node === undefined ? undefined : (ids.get(node) ?? NO_NODE),
    notNodeId: notNode === undefined ? undefined : (ids.get(notNode) ?? NO_NODE),
  };
}

/** Names of the nodes by id. */
export async function nodeNames(tx: Queryable): Promise<ReadonlyMap<number, string>> {
  const { rows } = await tx.query<{ id: number; name: string }>('SELECT id, name FROM nodes');
  return new Map(rows.map(({ id, name }) => [id, name]));
}
