/**
 * Every message between the control plane and the thread that answers questions about the query log. All of it is plain
 * data. A question is asked once and answered once, by an answer or a failure; rows of an export come in parts before.
 */
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';
import type { SentLine } from '../../../shared/threads/sent-logger.ts';
import type { AddressCount, CountedSpan } from '../../clients/client-stats-store.ts';
import type { SentTarget } from '../../db/database-target.ts';
import type { UnavailableReason } from '../../db/database-errors.ts';
import type { Bucket } from '../../stats/counts-reader.ts';
import type { LoggedDashboard } from '../../stats/dashboard-store.ts';
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
import type { QuestionsRequest, ReadQuestions } from '../distinct/read-questions.ts';
import type { ClientSlotsRequest, SlotsOfClients } from '../reading/client-slots.ts';
import type { LogSelection } from '../reading/log-request.ts';
import type { MostAskedRequest } from '../reading/most-asked-store.ts';
import type { QueryLogRequest } from '../reading/page-scan.ts';

/** What can be asked about the log. */
export type Question =
  | { readonly kind: 'page'; readonly request: QueryLogRequest }
  | { readonly kind: 'rows'; readonly selection: LogSelection }
  | { readonly kind: 'summary'; readonly span: NodeSpan }
  | { readonly kind: 'cache-use'; readonly span: Span }
  | { readonly kind: 'list-hits'; readonly span: Span }
  | { readonly kind: 'timeline'; readonly request: TimelineRequest }
  | { readonly kind: 'slot-counts'; readonly request: SlotRequest }
  | { readonly kind: 'client-slots'; readonly request: ClientSlotsRequest }
  | { readonly kind: 'dashboard'; readonly request: TimelineRequest }
  | { readonly kind: 'top-domains'; readonly request: TopRequest; readonly which: 'blocked' | 'allowed' }
  | { readonly kind: 'top-clients'; readonly request: TopClientsRequest }
  | { readonly kind: 'address-counts'; readonly span: CountedSpan }
  | { readonly kind: 'most-asked'; readonly request: MostAskedRequest }
  | { readonly kind: 'row'; readonly id: number }
  | { readonly kind: 'distinct-questions'; readonly request: QuestionsRequest };

export type QuestionKind = Question['kind'];

/** Answers by the kind of their question. Rows have no host names. */
export interface Answers {
  readonly page: QueryLogPage;
  /** After all parts. */
  readonly rows: null;
  readonly summary: LoggedSummary;
  readonly 'cache-use': CacheUse;
  readonly 'list-hits': ReadonlyMap<number, ListHits>;
  readonly timeline: readonly Bucket[];
  readonly 'slot-counts': readonly SlotCounts[];
  readonly 'client-slots': SlotsOfClients;
  readonly dashboard: LoggedDashboard;
  readonly 'top-domains': readonly DomainCount[];
  readonly 'top-clients': readonly ClientCount[];
  readonly 'address-counts': readonly AddressCount[];
  readonly 'most-asked': readonly string[];
  /** Null = there is none. */
  readonly row: LoggedQuery | null;
  readonly 'distinct-questions': ReadQuestions;
}

/** Why a question has no answer. */
export type ScanFailure =
  | { readonly kind: 'invalid-cursor'; readonly message: string }
  | {
      readonly kind: 'database-unavailable';
      readonly message: string;
      readonly reason: UnavailableReason | null;
    }
  /** The database answers, but not in time; the message is for people. */
  | { readonly kind: 'database-busy'; readonly message: string }
  /** A fault of Weir. */
  | { readonly kind: 'bug'; readonly message: string; readonly stack: string };

/** From the control plane to the thread. */
export type ToScans =
  | { readonly type: 'ask'; readonly id: number; readonly question: Question; readonly server: SentTarget }
  /** Another part of rows may be sent. */
  | { readonly type: 'more'; readonly id: number }
  | { readonly type: 'cancel'; readonly id: number }
  /** The database was lost: what is asked of it fails at once. */
  | { readonly type: 'database-lost' }
  /** Close connections and end. */
  | { readonly type: 'end' };

/** From the thread to the control plane. */
export type FromScans =
  | { readonly type: 'part'; readonly id: number; readonly rows: readonly LoggedQuery[] }
  | { readonly type: 'answer'; readonly id: number; readonly answer: Answers[QuestionKind] }
  | { readonly type: 'failure'; readonly id: number; readonly failure: ScanFailure }
  | { readonly type: 'damaged'; readonly block: string; readonly reason: string }
  | SentLine;

/** Parts of rows that may be under way. */
export const PARTS_AHEAD = 4;
