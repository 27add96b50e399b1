/** HTTP routes of `{api}/status/stream`. */
import type { Request } from 'express';
import { StatusEvent } from '../../../shared/api/policy/status-api.ts';
import { mayCall } from '../../api/route-access.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Caller } from '../../api/caller.ts';
import { holderOf } from '../../api/places.ts';
import type { StatusStreams } from './status-streams.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Without this header, nginx would buffer events.
  'X-Accel-Buffering': 'no',
};

/** The route of the stream. */
export function statusStreamRoutes(context: {
  /** The caller of a request, with current rights; null = unknown. */
  callerNow(http: Request): Promise<Caller | null>;
  statusStreams: Pick<StatusStreams, 'admit' | 'send'>;
}): Route[] {
  const { statusStreams } = context;
  const row = route({
    method: 'GET',
    path: '/status/stream',
    access: 'viewer',
    tag: 'System',
    summary:
      'State of this node as server-sent events: one immediately and one after each change, with a ' +
      'comment every second',
    events: StatusEvent,
    errors: { 429: 'too many concurrent streams; see Retry-After' },
    handle: async ({ caller, http, response }) => {
      if (http.method === 'HEAD') return void response.set(HEADERS);
      const holder = holderOf(caller);
      statusStreams.admit(holder);
      response.set(HEADERS);
      const isAllowed = async (): Promise<boolean> => mayCall(await context.callerNow(http), 'viewer');
      await statusStreams.send(response, { holder, isAllowed });
    },
  });
  return [row];
}
