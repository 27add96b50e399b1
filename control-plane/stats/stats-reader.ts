/** The figures of the log as routes ask for them; `query-log/scans/` answers. */
import type { Timeline } from '../../shared/api/stats-api.ts';
import type { ClientSlotsRequest, SlotsOfClients } from '../query-log/reading/client-slots.ts';
import type { LoggedDashboard } from './dashboard-store.ts';
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
} from './stats-store.ts';
import type { SlotCounts, SlotRequest } from './slot-counts.ts';
import type { TimelineRequest } from './timeline-store.ts';

/** Read side of statistics. Each answer is given up once `signal` is aborted. */
export interface StatsReader {
  summary(span: NodeSpan, signal: AbortSignal): Promise<LoggedSummary>;
  cacheUse(span: Span, signal: AbortSignal): Promise<CacheUse>;
  listHits(span: Span, signal: AbortSignal): Promise<ReadonlyMap<number, ListHits>>;
  topDomains(
    request: TopRequest,
    which: 'blocked' | 'allowed',
    signal: AbortSignal,
  ): Promise<readonly DomainCount[]>;
  topClients(request: TopClientsRequest, signal: AbortSignal): Promise<readonly ClientCount[]>;
  timeline(request: TimelineRequest, signal: AbortSignal): Promise<Timeline>;
  slotCounts(request: SlotRequest, signal: AbortSignal): Promise<readonly SlotCounts[]>;
  clientSlots(request: ClientSlotsRequest, signal: AbortSignal): Promise<SlotsOfClients>;
  dashboard(request: TimelineRequest, signal: AbortSignal): Promise<LoggedDashboard>;
}
