/** HTTP of `{api}/blocking`. What is in force is read from memory, so that it can be asked without a database. */
import type { Blocking, BlockingChange } from '../../shared/api/policy/blocking-api.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import { blockingSource, isBlockingEnabled, timerEndMs } from '../policy/blocking-switch.ts';
import { deleteBlockingSwitch, writeBlockingSwitch } from './blocking-switch-store.ts';

/** GET blocking */
export function readBlocking(context: ApiContext): Blocking {
  const nowMs = context.clock.nowMs();
  const said = context.blockingSwitch();
  const endMs = timerEndMs(said, nowMs);
  return {
    enabled: isBlockingEnabled(said, context.config().blocking.enabled, nowMs),
    timer_secs: endMs === null ? null : Math.ceil((endMs - nowMs) / 1000),
    source: blockingSource(said, nowMs),
  };
}

/** POST blocking */
export async function switchBlocking(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, BlockingChange>,
): Promise<Blocking> {
  const { enabled, timer_secs: timerSecs } = request.body;
  const until = timerSecs === null ? null : new Date(context.clock.nowMs() + timerSecs * 1000);
  await context.policy.change(authorOf(request), async (tx) => {
    await writeBlockingSwitch(tx, enabled, until);
    return { result: undefined, summary: null };
  });
  const said = enabled ? 'switch blocking on' : 'switch blocking off';
  context.logger.info(said, { until: until?.toISOString() ?? 'changed', author: authorOf(request) });
  return readBlocking(context);
}

/** DELETE blocking */
export async function giveBlockingBack(context: ApiContext, request: RouteRequest): Promise<void> {
  await context.policy.change(authorOf(request), async (tx) => {
    await deleteBlockingSwitch(tx);
    return { result: undefined, summary: null };
  });
  context.logger.info('let the configuration decide about blocking', { author: authorOf(request) });
}
