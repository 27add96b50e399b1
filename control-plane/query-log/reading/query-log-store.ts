/**
 * Reading the query log. Its only index is a coarse one on time, so a page is searched from its newest
 * end in steps of time that grow until the page is full: a page of recent rows costs a few milliseconds
 * however long the log is, and a rare one costs what a scan of the period costs.
 */
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';
import type { Database, Queryable } from '../../db/database.ts';
import { filterToSql } from './query-log-filter.ts';
import type { QueryLogFilter, SqlCondition } from './query-log-filter.ts';
import { decodeCursor, encodeCursor } from './query-log-cursor.ts';
import { listPartitions } from '../store/partition-store.ts';
import { DAY_MS } from '../store/copy-encoder.ts';
import { rdataText } from '../attribution/rdata-text.ts';
import { decodeStoredAnswers } from '../attribution/stored-answers.ts';
import {
  dnssecFromStored,
  protocolFromStored,
  rcodeFromStored,
  statusFromStored,
  typeFromStored,
} from './stored-codes.ts';

/** Which rows, and which page of them. */
export interface QueryLogRequest extends QueryLogFilter {
  /** Rows of the page. */
  readonly limit: number;
  readonly offset: number;
  /** `next_cursor` of the page before, which makes `offset` meaningless. */
  readonly cursor?: string | undefined;
  /** Unix milliseconds, inclusive; absent = as far back as the log goes. */
  readonly fromMs?: number | undefined;
  /** Unix milliseconds, exclusive; absent = to the newest row. */
  readonly toMs?: number | undefined;
}

/** External lookups of the store. */
export interface QueryLogContext {
  /** Host name of a client's address, if it has one. */
  readonly hostnameOf: (address: string) => string | null;
}

interface StoredRow {
  readonly id: number;
  readonly timestamp_us: number;
  readonly node: string | null;
  readonly client: string;
  readonly group_id: number;
  readonly domain: string;
  readonly type: number;
  readonly protocol: number;
  readonly status: number;
  readonly block_source: string | null;
  readonly block_rule: string | null;
  readonly rcode: number;
  readonly response_time_us: number;
  readonly cached: boolean;
  readonly upstream: string | null;
  readonly dnssec: number;
  readonly answers: Buffer | null;
}

/** A span of time in microseconds, end exclusive, and the position where a page starts. */
interface Span {
  readonly fromUs: number;
  readonly toUs: number;
  /** Only rows before this one; they may have the same time. */
  readonly before?: { readonly timestampUs: number; readonly id: number };
}

const COLUMNS = `l.id, (extract(epoch FROM l."timestamp") * 1000000)::bigint AS timestamp_us, n.name AS node,
  host(l.client) AS client, l.group_id, l.domain, l.type, l.protocol, l.status, l.block_source, l.block_rule,
  l.rcode, l.response_time_us, l.cached, l.upstream, l.dnssec, l.answers`;

/** The first step back in time, and the growth factor of the next ones. */
const FIRST_STEP_US = 10_000_000;
const STEP_GROWTH = 4;

/**
 * One page, newest first, with the number of rows on all pages. The total is counted for a first page and
 * travels in the cursor from there, so that turning pages does not count again.
 * @throws {InvalidCursor}
 */
export async function readQueryLog(
  database: Database,
  request: QueryLogRequest,
  context: QueryLogContext,
): Promise<QueryLogPage> {
  const { limit } = request;
  const cursor = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
  const condition = filterToSql(request);
  return database.background('questions').read(async (tx) => {
    const whole = await resolveSpan(tx, request);
    const total = cursor?.total ?? (await countRows(tx, condition, whole));
    // Without statistics the planner would rather read a whole day than ask the index.
    await tx.query('SET LOCAL enable_seqscan = off');
    const span = cursor ? { ...whole, before: cursor } : whole;
    const skip = cursor ? 0 : request.offset;
    const rows = skip >= total && !cursor ? [] : await readPage(tx, condition, span, { skip, limit });
    const last = rows.at(-1);
    const more = rows.length === limit && last !== undefined;
    return {
      data: rows.map((row) => toLoggedQuery(row, context)),
      total,
      limit,
      offset: request.offset,
      next_cursor: more ? encodeCursor({ timestampUs: last.timestamp_us, id: last.id, total }) : null,
    };
  });
}

/** The requested span, cut to the days that the log has. */
async function resolveSpan(tx: Queryable, { fromMs, toMs }: QueryLogRequest): Promise<Span> {
  const days = await listPartitions(tx);
  const oldestMs = (days[0] ?? 0) * DAY_MS;
  const newestMs = ((days.at(-1) ?? -1) + 1) * DAY_MS;
  return {
    fromUs: Math.max(fromMs ?? oldestMs, oldestMs) * 1000,
    toUs: Math.min(toMs ?? newestMs, newestMs) * 1000,
  };
}

async function readPage(
  tx: Queryable,
  condition: SqlCondition,
  span: Span,
  { skip, limit }: { skip: number; limit: number },
): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  let toSkip = skip;
  let stepUs = FIRST_STEP_US;
  let toUs = span.before ? Math.min(span.toUs, span.before.timestampUs + 1) : span.toUs;
  while (rows.length < limit && toUs > span.fromUs) {
    const step = { ...span, fromUs: Math.max(span.fromUs, toUs - stepUs), toUs };
    const inStep = toSkip > 0 ? await countRows(tx, condition, step) : Infinity;
    if (inStep > toSkip) {
      rows.push(...(await readStep(tx, condition, step, { skip: toSkip, limit: limit - rows.length })));
    }
    toSkip = Math.max(0, toSkip - inStep);
    toUs = step.fromUs;
    stepUs *= STEP_GROWTH;
  }
  return rows;
}

async function readStep(
  tx: Queryable,
  condition: SqlCondition,
  span: Span,
  { skip, limit }: { skip: number; limit: number },
): Promise<StoredRow[]> {
  const where = spanToSql(condition, span);
  const { rows } = await tx.query<StoredRow>(
    // Only the rows of the page are converted: a step may hold a million.
    `SELECT ${COLUMNS} FROM (
       SELECT * FROM query_log l WHERE ${where.text} ORDER BY l."timestamp" DESC, l.id DESC LIMIT ${limit} OFFSET ${skip}
     ) AS l LEFT JOIN nodes n ON n.id = l.node_id ORDER BY l."timestamp" DESC, l.id DESC`,
    where.values,
  );
  return rows;
}

async function countRows(tx: Queryable, condition: SqlCondition, span: Span): Promise<number> {
  const where = spanToSql(condition, span);
  const { rows } = await tx.query<{ total: number }>(
    `SELECT count(*) AS total FROM query_log l WHERE ${where.text}`,
    where.values,
  );
  return rows[0]?.total ?? 0;
}

function spanToSql({ text, values }: SqlCondition, { fromUs, toUs, before }: Span): SqlCondition {
  const parameter = (place: number): string => `$${values.length + place}`;
  const parts = [
    text,
    `l."timestamp" >= ${parameter(1)}::timestamptz`,
    `l."timestamp" < ${parameter(2)}::timestamptz`,
  ];
  const spanValues: unknown[] = [momentText(fromUs), momentText(toUs)];
  if (before) {
    parts.push(`(l."timestamp", l.id) < (${parameter(3)}::timestamptz, ${parameter(4)}::bigint)`);
    spanValues.push(momentText(before.timestampUs), before.id);
  }
  return { text: parts.join(' AND '), values: [...values, ...spanValues] };
}

/** ISO 8601 with microseconds, which a Date cannot hold. */
function momentText(timestampUs: number): string {
  const wholeMs = Math.floor(timestampUs / 1000);
  const restUs = String(timestampUs - wholeMs * 1000).padStart(3, '0');
  return new Date(wholeMs).toISOString().replace('Z', `${restUs}Z`);
}

function toLoggedQuery(row: StoredRow, { hostnameOf }: QueryLogContext): LoggedQuery {
  return {
    id: row.id,
    timestamp: new Date(Math.floor(row.timestamp_us / 1000)).toISOString(),
    node: row.node ?? '',
    client: row.client,
    client_hostname: hostnameOf(row.client),
    group_id: row.group_id,
    domain: row.domain,
    type: typeFromStored(row.type),
    protocol: protocolFromStored(row.protocol),
    status: statusFromStored(row.status),
    block_source: row.block_source,
    block_rule: row.block_rule,
    rcode: rcodeFromStored(row.rcode),
    response_time_us: row.response_time_us,
    cached: row.cached,
    upstream: row.upstream,
    dnssec_status: dnssecFromStored(row.dnssec),
    answers: row.answers === null ? null : decodeStoredAnswers(row.domain, row.answers, rdataText),
  };
}
