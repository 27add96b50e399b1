/** HTTP of `{api}/blocking`. What is in force is read from memory, so that it can be asked without a database. */
import { Blocking, BlockingChangeBody } from '../../shared/api/policy/blocking-api.ts';
import type { Logger } from '../../shared/log.ts';
import { authorOf, route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { recordAudit } from '../audit/audit-store.ts';
import type { PolicyChanges } from '../policy/change.ts';
import { blockingNow } from './blocking-now.ts';
import type { BlockingParts } from './blocking-now.ts';
import { deleteBlockingSwitch, readBlockingSwitch, writeBlockingSwitch } from './blocking-switch-store.ts';

/** What these rows are made of. */
export interface BlockingRouteParts extends BlockingParts {
  readonly policy: PolicyChanges;
  readonly logger: Logger;
}

/** Rows of the switch of all blocking. */
export function blockingRoutes(parts: BlockingRouteParts): Route[] {
  return [readBlocking(parts), switchBlocking(parts), giveBlockingBack(parts)];
}

function readBlocking(parts: BlockingRouteParts): Route {
  return route({
    method: 'GET',
    path: '/blocking',
    access: 'viewer',
    tag: 'Blocking',
    summary: 'Whether blocking is on, and for how long',
    answer: Blocking,
    handle: () => blockingNow(parts),
  });
}

function switchBlocking(parts: BlockingRouteParts): Route {
  return route({
    method: 'POST',
    path: '/blocking',
    access: 'admin',
    tag: 'Blocking',
    summary: 'Switch all blocking on or off on every node, for a time or until changed',
    body: BlockingChangeBody,
    answer: Blocking,
    handle: async (request) => {
      const { enabled, timer_secs: timerSecs } = request.body;
      const until = timerSecs === null ? null : new Date(parts.clock.nowMs() + timerSecs * 1000);
      await parts.policy.change(authorOf(request), async (tx) => {
        const before = await readBlockingSwitch(tx);
        await writeBlockingSwitch(tx, enabled, until);
        const entry = { actor: authorOf(request), action: enabled ? 'switched on' : 'switched off' };
        await recordAudit(tx, { ...entry, subject: 'blocking', before, after: { enabled, until } });
        return { result: undefined, summary: null };
      });
      const said = enabled ? 'switch blocking on' : 'switch blocking off';
      parts.logger.info(said, { until: until?.toISOString() ?? 'changed', author: authorOf(request).name });
      return blockingNow(parts);
    },
  });
}

function giveBlockingBack(parts: BlockingRouteParts): Route {
  return route({
    method: 'DELETE',
    path: '/blocking',
    access: 'admin',
    tag: 'Blocking',
    summary: 'Let the configuration decide about blocking again',
    handle: async (request) => {
      await parts.policy.change(authorOf(request), async (tx) => {
        const before = await readBlockingSwitch(tx);
        await deleteBlockingSwitch(tx);
        const entry = {
          actor: authorOf(request),
          action: 'given back to the configuration',
          subject: 'blocking',
        };
        await recordAudit(tx, { ...entry, before });
        return { result: undefined, summary: null };
      });
      parts.logger.info('let the configuration decide about blocking', { author: authorOf(request).name });
    },
  });
}
