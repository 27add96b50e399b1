/** The compatibility API's query log: pages of the same rows as in the native API, by default of the last 24 hours. */
import type { Untimed } from '../../../shared/api/compat/compat-api.ts';
import { CompatQueries, type CompatQuery } from '../../../shared/api/compat/compat-log-api.ts';
import { type LoggedQuery, MAX_OFFSET } from '../../../shared/api/query-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import type { QueryConditions } from '../../query-log/search/query-conditions.ts';
import type { QueryLogReader } from '../../query-log/reading/query-log-reader.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import { CompatFault } from './compat-error.ts';
import { type CompatRequest, type CompatRoute, reading } from './compat-route.ts';
import { countsOf, lastDay } from './day-counts.ts';
import type { Params } from './params.ts';
import { compatQuery, cursorAt, type ListIds, orderedId, timeOfCursor } from './query-row.ts';
import { conditionsOf, type KnownNames } from './query-selection.ts';

/** A client that a filter can find by name. */
interface NamedClient {
  readonly addresses: Iterable<string>;
}

/** Maximum number of rows on a page; `length=-1` requests all. */
const MAX_ROWS = 10_000;
const DEFAULT_ROWS = 100;

/** The route of the query log. */
export function compatQueriesRoutes(context: {
  queryLog: Pick<QueryLogReader, 'page'>;
  stats: Pick<LogQuestions, 'slotCounts'>;
  clock: Clock;
  clients: { all(): readonly NamedClient[]; nameAt(address: string): string | null };
  policyRows: () => PolicyRows;
}): CompatRoute[] {
  const { queryLog, stats, clock, clients, policyRows } = context;
  const readQueries = async ({ params, gone }: CompatRequest): Promise<Untimed<CompatQueries>> => {
    const names = namesOf(clients.all(), (address) => clients.nameAt(address));
    const upstreams = params.text('upstream') === undefined ? [] : await upstreamsOf(stats, clock, gone);
    const conditions = conditionsOf(params, { upstreams, clients: names });
    const cursor = cursorOf(params, clock);
    const span = spanFrom(params, cursor, clock);
    const length = params.int('length') ?? DEFAULT_ROWS;
    const limit = length < 0 ? MAX_ROWS : Math.min(length, MAX_ROWS);
    const offset = startOf(params);
    const page = await queryLog.page({ ...conditions, ...span, limit, offset }, gone);
    const all = isAny(conditions) ? await queryLog.page({ ...span, limit: 1, offset: 0 }, gone) : page;
    return {
      queries: shown(page.data, policyRows()),
      cursor,
      recordsTotal: all.total,
      recordsFiltered: page.total,
      draw: params.int('draw') ?? 0,
    };
  };
  return [reading('/queries', CompatQueries, readQueries)];
}

/** Rows with ids that grow with time, the highest first. */
function shown(rows: readonly LoggedQuery[], policy: PolicyRows): CompatQuery[] {
  const ids = listIds(policy);
  return rows.map((row) => compatQuery(row, orderedId(row), ids)).sort((a, b) => b.id - a.id);
}

function listIds({ sources, managedDomains, regexFilters }: PolicyRows): ListIds {
  const idIn = (rows: readonly { readonly id: number; readonly name: string }[]) => (name: string) =>
    rows.find((row) => row.name === name)?.id;
  return { list: idIn(sources), managed: idIn(managedDomains), regex: idIn(regexFilters) };
}

function cursorOf(params: Params, clock: Clock): number {
  const text = params.text('cursor');
  const cursor = params.int('cursor');
  if (text === undefined) return cursorAt(clock.nowMs());
  if (cursor !== undefined && cursor >= 0) return cursor;
  throw new CompatFault(400, 'bad_request', 'Requested cursor is invalid', text.slice(0, 64));
}

/**
 * Number of rows to skip. A page that is too far away is not replaced by a nearer one, because clients would then loop
 * forever.
 */
function startOf(params: Params): number {
  const start = Math.max(0, params.int('start') ?? 0);
  if (start <= MAX_OFFSET) return start;
  const message = `"start" must not exceed ${MAX_OFFSET}: use "until" for older queries`;
  throw new CompatFault(400, 'bad_request', message, String(start));
}

/** All pages contain only rows before the cursor, so that new rows do not move the pages. */
function spanFrom(params: Params, cursor: number, clock: Clock): { from: Date | null; to: Date } {
  const [from, until] = [params.time('from'), params.time('until')];
  const untilMs = until === undefined ? Infinity : Math.floor(until * 1000) + 1;
  const startMs = from === undefined ? lastDay(clock).fromMs : from * 1000;
  const isAll = from === undefined && params.bool('disk', false);
  return {
    from: isAll ? null : new Date(startMs),
    to: new Date(Math.max(0, Math.min(timeOfCursor(cursor), untilMs, MAX_MS))),
  };
}

/** Latest time of a Date. */
const MAX_MS = 8.64e15;

function namesOf(
  clients: readonly NamedClient[],
  nameAt: (address: string) => string | null,
): KnownNames['clients'] {
  return clients.flatMap(({ addresses }) =>
    [...addresses].flatMap((address): [string, string][] => {
      const name = nameAt(address);
      return name === null ? [] : [[address, name]];
    }),
  );
}

async function upstreamsOf(
  stats: Pick<LogQuestions, 'slotCounts'>,
  clock: Clock,
  gone: AbortSignal,
): Promise<KnownNames['upstreams']> {
  const { upstream } = await countsOf(stats, lastDay(clock), ['upstream'], gone);
  return Object.keys(upstream);
}

function isAny(conditions: QueryConditions): boolean {
  return Object.values(conditions).some((value) => value !== undefined);
}
