/**
 * The query log and its figures as the API asks for them. What has been gathered is stored before a question is asked,
 * and the rows of an answer get the host names of now.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';
import type { Timeline } from '../../../shared/api/stats-api.ts';
import { invalid } from '../../api/api-error.ts';
import type { AddressCount, AddressCounts, CountedSpan } from '../../clients/client-stats-store.ts';
import type { Database } from '../../db/database.ts';
import type { LoggedDashboard } from '../../stats/dashboard-store.ts';
import type { StatsReader } from '../../stats/stats-reader.ts';
import type {
  CacheUse,
  ClientCount,
  DomainCount,
  ListHits,
  LoggedSummary,
  NodeSpan,
  Span,
  TopClientsRequest,
  TopRequest,
} from '../../stats/stats-store.ts';
import type { SlotCounts, SlotRequest } from '../../stats/slot-counts.ts';
import type { TimelineRequest } from '../../stats/timeline-store.ts';
import { timelineOf } from '../../stats/timeline.ts';
import type { QuestionsRequest, ReadQuestions } from '../distinct/read-questions.ts';
import type { ClientSlotsRequest, SlotsOfClients } from '../reading/client-slots.ts';
import type { LogSelection } from '../reading/log-request.ts';
import type { MostAskedRequest } from '../reading/most-asked-store.ts';
import { InvalidCursor } from '../reading/query-log-cursor.ts';
import type { QueryLogFilter, QueryLogReader } from '../reading/query-log-reader.ts';
import type { QuestionOf, Scans } from './log-scans.ts';
import type { Answers, QuestionKind } from './scan-messages.ts';

/** What it is made of. */
export interface LogQuestionsOptions {
  readonly scans: Scans;
  readonly database: Pick<Database, 'status'>;
  /** Sends what has been gathered; resolves when it is stored. */
  readonly flush: () => Promise<void>;
  /** Host name of a client's address, or of the client that named itself, if it has one. */
  readonly hostnameOf: (address: string, clientId: number | null) => string | null;
}

/** Milliseconds that a question waits for the newest rows. */
const MOST_WAIT_MS = 1000;

/** All questions. */
export class LogQuestions implements QueryLogReader, StatsReader, AddressCounts {
  private readonly options: LogQuestionsOptions;

  constructor(options: LogQuestionsOptions) {
    this.options = options;
  }

  async page({ from, to, ...filter }: QueryLogFilter, signal: AbortSignal): Promise<QueryLogPage> {
    const request = { ...filter, fromMs: from?.getTime(), toMs: to?.getTime() };
    try {
      const page = await this.ask({ kind: 'page', request }, signal);
      return { ...page, data: this.named(page.data) };
    } catch (error) {
      if (error instanceof InvalidCursor)
        throw invalid([{ path: 'cursor', message: 'is not a cursor of this log' }]);
      throw error;
    }
  }

  async *rows(selection: LogSelection, signal: AbortSignal): AsyncGenerator<LoggedQuery[]> {
    await this.store(signal);
    for await (const rows of this.options.scans.rows(selection, signal)) yield this.named(rows);
  }

  summary(span: NodeSpan, signal: AbortSignal): Promise<LoggedSummary> {
    return this.ask({ kind: 'summary', span }, signal);
  }

  cacheUse(span: Span, signal: AbortSignal): Promise<CacheUse> {
    return this.ask({ kind: 'cache-use', span }, signal);
  }

  listHits(span: Span, signal: AbortSignal): Promise<ReadonlyMap<number, ListHits>> {
    return this.ask({ kind: 'list-hits', span }, signal);
  }

  topDomains(
    request: TopRequest,
    which: 'blocked' | 'allowed',
    signal: AbortSignal,
  ): Promise<readonly DomainCount[]> {
    return this.ask({ kind: 'top-domains', request, which }, signal);
  }

  topClients(request: TopClientsRequest, signal: AbortSignal): Promise<readonly ClientCount[]> {
    return this.ask({ kind: 'top-clients', request }, signal);
  }

  async timeline(request: TimelineRequest, signal: AbortSignal): Promise<Timeline> {
    return timelineOf(request, await this.ask({ kind: 'timeline', request }, signal));
  }

  slotCounts(request: SlotRequest, signal: AbortSignal): Promise<readonly SlotCounts[]> {
    return this.ask({ kind: 'slot-counts', request }, signal);
  }

  clientSlots(request: ClientSlotsRequest, signal: AbortSignal): Promise<SlotsOfClients> {
    return this.ask({ kind: 'client-slots', request }, signal);
  }

  dashboard(request: TimelineRequest, signal: AbortSignal): Promise<LoggedDashboard> {
    return this.ask({ kind: 'dashboard', request }, signal);
  }

  ofSpan(span: CountedSpan, signal: AbortSignal): Promise<readonly AddressCount[]> {
    return this.ask({ kind: 'address-counts', span }, signal);
  }

  /** As `readMostAsked()`. */
  mostAsked(request: MostAskedRequest, signal: AbortSignal): Promise<readonly string[]> {
    return this.ask({ kind: 'most-asked', request }, signal);
  }

  /** One row; null if there is none. */
  async row(id: number, signal: AbortSignal): Promise<LoggedQuery | null> {
    const row = await this.ask({ kind: 'row', id }, signal);
    return row === null ? null : this.named([row])[0]!;
  }

  /** As `readQuestions()`. */
  distinctQuestions(request: QuestionsRequest, signal: AbortSignal): Promise<ReadQuestions> {
    return this.ask({ kind: 'distinct-questions', request }, signal);
  }

  private async ask<Kind extends QuestionKind>(
    question: QuestionOf<Kind>,
    signal: AbortSignal,
  ): Promise<Answers[Kind]> {
    await this.store(signal);
    return this.options.scans.ask<Kind>(question, signal);
  }

  /** Waits until what was gathered is stored, but not for long. */
  private async store(signal: AbortSignal): Promise<void> {
    const { database, flush } = this.options;
    if (database.status().state !== 'up') return;
    const enough = new AbortController();
    const late = sleep(MOST_WAIT_MS, undefined, { signal: AbortSignal.any([signal, enough.signal]) });
    await Promise.race([flush(), late.catch(() => undefined)]);
    enough.abort();
  }

  private named(rows: readonly LoggedQuery[]): LoggedQuery[] {
    const { hostnameOf } = this.options;
    return rows.map((row) => ({ ...row, client_hostname: hostnameOf(row.client, row.client_id) }));
  }
}
