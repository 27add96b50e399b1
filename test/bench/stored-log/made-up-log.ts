// Generates days of queries as the log would have stored them: names and types of the bench's question stream, about
// 200 clients, answers with one or two addresses. The same seed generates the same queries.
import type { QueryLogRow } from '../../../control-plane/query-log/rows/row.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { BlockGatherer, toBatch } from '../../../control-plane/query-log/store/block-gatherer.ts';
import { CountsDays } from '../../../control-plane/query-log/upkeep/counts-days.ts';
import { NameFolding } from '../../../control-plane/query-log/upkeep/name-folding.ts';
import { storeBlock } from '../../../control-plane/query-log/store/block-store.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { systemClock } from '../../../shared/clock.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { Exclusion, QueryStatus } from '../../../shared/query-log.ts';
import type { Question } from '../material/asked-question.ts';
import { type Random, seededRandom } from '../material/random.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Number of earlier days and months that get copies of the day's top lists. */
const DAYS_BEFORE = 30;
const MONTHS_BEFORE = 13;
const CLIENTS = 200;
const GROUPS = 3;
const BLOCKED_SHARE = 0.15;
const STALE_SHARE = 0.1;
const CLIENT_BYTES = 16;
const RECORD_BYTES = 16;
/** Number of rows that are generated once, and then stored repeatedly with other times. */
const MADE_ROWS = 262_144;
const RULE = { source: 'Big list', before: '||', atName: true, after: '^', lists: [1] } as const;
const QTYPES: Readonly<Record<string, number>> = { AAAA: 28, HTTPS: 65, PTR: 12, TXT: 16, SRV: 33 };

/** The log to store. */
export interface MadeUpLog {
  readonly stream: readonly Question[];
  readonly queries: number;
  readonly nodes: number;
  /** Number of queries per block after maintenance has merged blocks. */
  readonly blockRows: number;
  /** Start of the first day, Unix milliseconds. */
  readonly startMs: number;
  /** Period over which the queries are spread evenly. */
  readonly days: number;
  readonly seed: number;
}

/** Stores these rows repeatedly; returns the number of blocks. */
export async function storeMadeUpLog(
  database: Database,
  rows: readonly QueryLogRow[],
  { queries, nodes, blockRows, startMs, days }: MadeUpLog,
): Promise<number> {
  const share = Math.floor(queries / nodes);
  function* rowsOf(node: number): Generator<QueryLogRow> {
    for (let i = 0; i < share; i++)
      yield { ...rows[(i + node) % rows.length]!, timestampMs: startMs + (i * days * DAY_MS) / share };
  }
  let blocks = 0;
  for (let node = 1; node <= nodes; node++)
    blocks += await storeRows(database, rowsOf(node), { nodeId: node, blockRows });
  return blocks;
}

/** Stores rows of a node ordered by time; returns the number of blocks. */
export async function storeRows(
  database: Database,
  rows: Iterable<QueryLogRow>,
  { nodeId, blockRows }: { readonly nodeId: number; readonly blockRows: number },
): Promise<number> {
  const gatherer = new BlockGatherer();
  let blocks = 0;
  const store = async (sealed: ReturnType<BlockGatherer['seal']>): Promise<void> => {
    if (sealed === null) return;
    await storeBlock(database, await toBatch(gatherer.runKey, sealed), { nodeId, durable: false });
    blocks++;
  };
  for (const row of rows) {
    await store(gatherer.append(row, 'full'));
    if (gatherer.rowCount === blockRows) await store(gatherer.seal());
  }
  await store(gatherer.seal());
  return blocks;
}

/**
 * Adds the stored blocks of nodes to the top lists of names and clients, and deletes counts that are too old, as
 * maintenance would.
 */
export async function keepAsUpkeep(
  database: Database,
  { nodeIds, days }: { readonly nodeIds: readonly number[]; readonly days: number },
): Promise<void> {
  const logger = new MemoryLogger();
  for (const nodeId of nodeIds) {
    const folding = new NameFolding({ database, logger, nodeId });
    while ((await folding.turn('own-and-ended')) > 0);
  }
  await new CountsDays({ database, logger, clock: systemClock, rollupDays: () => days + 1 }).keep();
}

/**
 * Stores top lists of names and clients for the day, and copies of them for earlier days and months; returns the number
 * of lists.
 */
export async function addNameLists(database: Database, { nodes }: MadeUpLog): Promise<number> {
  for (let nodeId = 1; nodeId <= nodes; nodeId++) {
    const folding = new NameFolding({ database, logger: new MemoryLogger(), nodeId });
    while ((await folding.turn('own-and-ended')) > 0);
  }
  const columns = `queries, name_entries, names_unseen, client_entries, clients_unseen, names_checksum,
    clients_checksum, names, clients`;
  for (const [grain, unit, copies] of [
    ['d', 'day', DAYS_BEFORE],
    ['M', 'month', MONTHS_BEFORE],
  ] as const)
    await database.query(
      `INSERT INTO query_names (grain, start, node_id, ${columns})
       SELECT grain, (start AT TIME ZONE 'UTC' - copy * interval '1 ${unit}') AT TIME ZONE 'UTC', node_id, ${columns}
       FROM query_names, generate_series(1, ${copies}) AS copy WHERE grain = '${grain}' ON CONFLICT DO NOTHING`,
    );
  const { rows } = await database.query<{ lists: number }>('SELECT count(*) AS lists FROM query_names');
  return rows[0]!.lists;
}

/** Rows without a time. Blocks the event loop for seconds. */
export function makeRows({ stream, queries, nodes, seed }: MadeUpLog): QueryLogRow[] {
  const random = seededRandom(seed);
  const count = Math.min(MADE_ROWS, Math.ceil(queries / nodes));
  return Array.from({ length: count }, (_, i) => makeRow(stream[i % stream.length]!, random));
}

function makeRow({ name, type }: Question, random: Random): QueryLogRow {
  const isBlocked = random() < BLOCKED_SHARE;
  const client = Math.floor(random() * CLIENTS);
  const qname = nameFromText(name) ?? nameFromText('unreadable.test')!;
  const records = isBlocked ? Buffer.alloc(0) : answers(name, random);
  const isStale = random() < STALE_SHARE;
  return {
    bytes: Buffer.concat([
      Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, client]),
      qname,
      records,
    ]),
    timestampMs: 0,
    client: { at: 0, length: CLIENT_BYTES },
    groupId: 1 + (client % GROUPS),
    clientId: 0,
    exclusion: Exclusion.NONE,
    alias: { at: 0, length: 0 },
    qname: { at: CLIENT_BYTES, length: qname.length },
    qtype: QTYPES[type] ?? 1,
    protocol: 0,
    status: isBlocked ? QueryStatus.BLOCKED_LIST : isStale ? QueryStatus.STALE : QueryStatus.CACHED,
    rcode: 0,
    dnssec: 0,
    answerType: isBlocked ? 0 : 1,
    extendedError: -1,
    origin: null,
    responseTimeUs: Math.floor(10 + random() * random() * 200),
    cached: !isBlocked,
    rule: isBlocked ? RULE : null,
    ruleName: { at: CLIENT_BYTES, length: isBlocked ? qname.length : 0 },
    upstream: null,
    answers: { at: CLIENT_BYTES + qname.length, length: records.length },
  };
}

/** Addresses for the name. */
function answers(name: string, random: Random): Buffer {
  const count = 1 + Math.floor(random() * 2);
  const records = Buffer.alloc(RECORD_BYTES * count);
  const ttl = 300 - Math.floor(random() * 300);
  for (let i = 0; i < count; i++) {
    const at = i * RECORD_BYTES;
    records.set([0xc0, 12, 0, 1, 0, 1], at);
    records.writeUInt32BE(ttl, at + 6);
    records.writeUInt16BE(4, at + 10);
    records.writeUInt32BE((Math.imul(hashOf(name), 0x9e3779b1) + i) >>> 0, at + 12);
  }
  return records;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash, 31) + text.charCodeAt(i);
  return hash >>> 0;
}
