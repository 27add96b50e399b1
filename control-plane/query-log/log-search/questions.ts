/**
 * Every type of request to the stored log: its reader, which runs in the thread of `scan-thread.ts`, and its lane. The
 * types of arguments and results, which are plain data, are derived from the reader; `log-questions.ts` has a method
 * for each request type. To add a type, write a reader and add a row to `TABLE`.
 */
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { readBreakdown } from '../statistics/breakdown.ts';
import { readClientTimeline } from '../statistics/client-timeline.ts';
import { readDashboard } from '../statistics/dashboard-store.ts';
import { readSlotCounts, type Span } from '../statistics/counts-reader.ts';
import {
  readAddressCounts,
  readCacheUse,
  readListHits,
  readMostAsked,
  readNamesBelow,
  readSummary,
  readTopClients,
  readTopDomains,
} from '../statistics/stats-store.ts';
import { readTimeline } from '../statistics/timeline.ts';
import { type QuestionsRequest, readQuestions } from '../logged-questions/read-questions.ts';
import { readClientSlots } from '../reading/client-slots.ts';
import { exportQueries } from '../reading/log-export.ts';
import type { LogSelection } from '../reading/log-request.ts';
import type { LogSource } from '../reading/log-source.ts';
import type { QueryLogRequest } from '../reading/page-scan.ts';
import { readLoggedRow, readQueryLog } from '../reading/query-log-store.ts';
import type { QueryConditions } from '../search/query-conditions.ts';

/**
 * Class of requests with its own queue, so that short requests do not wait for long ones. `quick` requests read few
 * blocks, whatever the size of the log; `sums` requests read the stored top lists of names and clients, and few blocks;
 * `scan` requests may read every block.
 */
export type Lane = 'quick' | 'sums' | 'scan';

/** Limits of each lane. */
export const LANES: Readonly<Record<Lane, { readonly atOnce: number; readonly waiting: number }>> = {
  quick: { atOnce: 2, waiting: 100 },
  sums: { atOnce: 2, waiting: 30 },
  scan: { atOnce: 2, waiting: 30 },
};

/** Maximum length of the span of a `quick` request. */
const QUICK_SPAN_MS = 2 * 3_600_000;
/** Maximum number of rows that a `quick` page skips and shows. */
const QUICK_ROWS = 1000;

/** Sends some of the rows; resolves when more may be sent. */
export type SendRows = (rows: readonly LoggedQuery[]) => Promise<void>;

interface ClientSpan extends Span {
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
}

interface QuestionRow<Argument, Answer> {
  readonly read: (log: LogSource, argument: Argument, send: SendRows) => Promise<Answer>;
  readonly lane: (argument: Argument) => Lane;
}

const TABLE = {
  page: question(readQueryLog, laneOfPage),
  row: question(readLoggedRow, 'quick'),
  rows: question(sendRows, 'scan'),
  distinctQuestions: question((log, request: QuestionsRequest) => readQuestions(log, request), 'scan'),
  mostAsked: question(readMostAsked, 'sums'),
  summary: question(readSummary, laneOfSums),
  cacheUse: question(readCacheUse, 'quick'),
  listHits: question(readListHits, 'quick'),
  breakdown: question(readBreakdown, 'quick'),
  topDomains: question(readTopDomains, laneOfTop),
  namesBelow: question(readNamesBelow, laneOfSums),
  topClients: question(readTopClients, laneOfTop),
  addressCounts: question(readAddressCounts, laneOfSums),
  timeline: question(readTimeline, laneOfTimeline),
  slotCounts: question(readSlotCounts, 'quick'),
  clientSlots: question(readClientSlots, laneOfScan),
  clientTimeline: question(readClientTimeline, laneOfScan),
  dashboard: question(readDashboard, laneOfSums),
};

export type QuestionName = keyof typeof TABLE;
/** Names of all request types. */
export const QUESTION_NAMES = Object.keys(TABLE) as readonly QuestionName[];

/** Arguments of the requests, by name. */
export type Arguments = {
  readonly [Name in QuestionName]: Parameters<(typeof TABLE)[Name]['read']>[1];
};
/** Results by request name. Rows in them have no host names. */
export type Answers = {
  readonly [Name in QuestionName]: Awaited<ReturnType<(typeof TABLE)[Name]['read']>>;
};
/** A request in the form that is sent to the thread. */
export type Question<Name extends QuestionName = QuestionName> = {
  [Each in Name]: { readonly name: Each; readonly argument: Arguments[Each] };
}[Name];

const QUESTIONS: { readonly [Name in QuestionName]: QuestionRow<Arguments[Name], Answers[Name]> } = TABLE;

/** The lane of a request. */
export function laneOf<Name extends QuestionName>({ name, argument }: Question<Name>): Lane {
  return QUESTIONS[name].lane(argument);
}

/** Reads the result of a request. @throws {InvalidCursor} @throws {DatabaseUnavailable} @throws {DatabaseBusy} */
export function answerQuestion<Name extends QuestionName>(
  log: LogSource,
  { name, argument }: Question<Name>,
  send: SendRows,
): Promise<Answers[Name]> {
  return QUESTIONS[name].read(log, argument, send);
}

function question<Argument, Answer>(
  read: QuestionRow<Argument, Answer>['read'],
  lane: Lane | ((argument: Argument) => Lane),
): QuestionRow<Argument, Answer> {
  return { read, lane: typeof lane === 'string' ? () => lane : lane };
}

/** Sends all rows in parts; the final result is empty. */
async function sendRows(log: LogSource, selection: LogSelection, send: SendRows): Promise<null> {
  for await (const rows of exportQueries(log, selection)) await send(rows);
  return null;
}

function laneOfSums({ fromMs, toMs }: Span): Lane {
  return toMs - fromMs <= QUICK_SPAN_MS ? 'quick' : 'sums';
}

function laneOfScan({ fromMs, toMs }: Span): Lane {
  return toMs - fromMs <= QUICK_SPAN_MS ? 'quick' : 'scan';
}

/** Top lists count all clients together, so a request for one client or group must read blocks. */
function laneOfTop(request: ClientSpan): Lane {
  const { client, group_id } = request;
  return client === undefined && group_id === undefined ? laneOfSums(request) : laneOfScan(request);
}

/** Only timelines of all clients can be counted without reading blocks. */
function laneOfTimeline(request: ClientSpan): Lane {
  const { client, group_id } = request;
  return client === undefined && group_id === undefined ? 'quick' : laneOfScan(request);
}

/** The total of all rows is counted without reading blocks; with a filter, every block of the span is needed. */
function laneOfPage({ limit, offset, cursor, fromMs, toMs, ...filter }: QueryLogRequest): Lane {
  if (limit + (cursor === undefined ? offset : 0) > QUICK_ROWS) return 'scan';
  const { node: _, notNode: __, not, ...conditions } = filter;
  if (!isAnySet(conditions) && (not === undefined || !isAnySet(not))) return 'quick';
  return fromMs === undefined ? 'scan' : laneOfScan({ fromMs, toMs: toMs ?? Infinity });
}

function isAnySet(conditions: QueryConditions): boolean {
  return Object.values(conditions).some((value) => value !== undefined);
}
