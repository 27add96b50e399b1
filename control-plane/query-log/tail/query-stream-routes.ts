/** HTTP routes of `{api}/queries/stream`. */
import type { Request } from 'express';
import { QueryLogFilters, QueryTailEvent } from '../../../shared/api/query-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { mayCall } from '../../api/route-access.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Caller } from '../../api/caller.ts';
import { holderOf } from '../../api/places.ts';
import { type KnownClients, selectionOf } from '../reading/log-request.ts';
import type { LiveTail } from './live-tail.ts';
import { TailFilter } from './tail-batch.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Without this header, nginx would buffer events.
  'X-Accel-Buffering': 'no',
};

/** The route of the stream. */
export function queryStreamRoutes(context: {
  clock: Clock;
  clients: KnownClients;
  /** The caller of a request, with current rights; null = unknown. */
  callerNow(http: Request): Promise<Caller | null>;
  tail: Pick<LiveTail, 'admit' | 'send'>;
}): Route[] {
  const { clock, clients, tail } = context;
  const row = route({
    method: 'GET',
    path: '/queries/stream',
    access: 'viewer',
    tag: 'Statistics',
    summary: 'New rows of the query log as server-sent events every 100 ms, oldest first',
    query: QueryLogFilters,
    events: QueryTailEvent,
    errors: { 429: 'too many concurrent streams; see Retry-After' },
    handle: async ({ query, caller, http, response }) => {
      const filter = new TailFilter(selectionOf(query, clock.nowMs(), clients));
      if (http.method === 'HEAD') return void response.set(HEADERS);
      const holder = holderOf(caller);
      tail.admit(holder);
      response.set(HEADERS);
      const isAllowed = async (): Promise<boolean> => mayCall(await context.callerNow(http), 'viewer');
      await tail.send(response, { holder, filter, isAllowed });
    },
  });
  return [row];
}
