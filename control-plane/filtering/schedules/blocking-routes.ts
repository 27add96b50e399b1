/**
 * HTTP routes of `{api}/blocking`. The current state is read from memory, so that it is available without a database.
 * Blocking can also be changed without a database, but only temporarily and only on this node.
 */
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { Blocking, BlockingChangeBody } from '../../../shared/api/policy/blocking-api.ts';
import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { ApiError } from '../../api/api-error.ts';
import type { Author } from '../../api/caller.ts';
import { toApiError } from '../../api/problem.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { DatabaseBusy, DatabaseUnavailable, OutcomeUnknown } from '../../storage/db/database-errors.ts';
import type { Follow, PolicyChanges } from '../../policy/change/change.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { blockingNow } from './blocking-now.ts';
import {
  type BlockingSwitchChange,
  deleteBlockingSwitch,
  readBlockingSwitch,
  storeBlockingSwitch,
} from './blocking-switch-store.ts';
import type { LocalSwitch } from './local-switch.ts';

/** Maximum duration of a change without a database, in seconds. */
const MAX_LOCAL_SECS = 3600;

/** Dependencies of the routes. */
interface BlockingContext {
  readonly policyRows: () => Pick<PolicyRows, 'blockingSwitch'>;
  readonly configuration: { current(): Pick<Config, 'blocking'> };
  readonly clock: Clock;
  readonly policy: PolicyChanges;
  readonly localSwitch: Pick<LocalSwitch, 'isActive' | 'use' | 'end'>;
  /** Publishes the active rows again. */
  readonly activePolicy: { applyLive(): Promise<void> };
  readonly logger: Logger;
}

export function blockingRoutes(context: BlockingContext): Route[] {
  return [readBlocking(context), switchBlocking(context), resetBlocking(context)];
}

function toApiBlocking({ policyRows, configuration, clock }: BlockingContext): Blocking {
  return blockingNow(policyRows().blockingSwitch, configuration.current(), clock);
}

function readBlocking(context: BlockingContext): Route {
  return route({
    method: 'GET',
    path: '/blocking',
    access: 'viewer',
    tag: 'Blocking',
    summary: 'Whether blocking is enabled, and when this state ends',
    answer: Blocking,
    handle: () => toApiBlocking(context),
  });
}

function switchBlocking(context: BlockingContext): Route {
  return route({
    method: 'POST',
    path: '/blocking',
    access: 'admin',
    tag: 'Blocking',
    summary:
      'Enable or pause blocking on all nodes, for a time or until it is changed. Without the database the ' +
      'change applies only to this node, for at most an hour',
    body: BlockingChangeBody,
    answer: Blocking,
    handle: async (request) => {
      const { enabled, timer_secs: timerSecs } = request.body;
      const author = authorOf(request);
      const until = timerSecs === null ? null : new Date(context.clock.nowMs() + timerSecs * 1000);
      const isEverywhere = await switchAllNodes(context, author, { enabled, until });
      context.logger.info(enabled ? 'blocking enabled' : 'blocking paused', {
        until: until?.toISOString() ?? 'changed',
        author: author.name,
        ...(!isEverywhere && { nodes: 'this one, because the database is unavailable' }),
      });
      return toApiBlocking(context);
    },
  });
}

/**
 * Stores the change for all nodes. Returns false if the database is unavailable, and the change was only made on this
 * node.
 */
async function switchAllNodes(
  context: BlockingContext,
  author: Author,
  to: BlockingSwitchChange,
): Promise<boolean> {
  try {
    await context.policy.change(author, (tx) => storeSwitch(tx, author, to), endLocal(context));
    return true;
  } catch (error) {
    if (!isWithoutDatabase(error)) throw error;
    await switchThisNode(context, author, to, error);
    return false;
  }
}

async function storeSwitch(tx: Queryable, author: Author, to: BlockingSwitchChange) {
  await storeBlockingSwitch(tx, author, to);
  return { result: undefined, summary: null };
}

/** Ends the local change, so that the stored state also applies on this node. */
function endLocal({ localSwitch }: BlockingContext): Follow<undefined> {
  return async (_result, apply) => {
    await localSwitch.end();
    await apply();
  };
}

/** Whether the database is unavailable; false if it is only busy, or may have stored the change. */
function isWithoutDatabase(error: unknown): error is DatabaseUnavailable {
  return (
    error instanceof DatabaseUnavailable &&
    !(error instanceof DatabaseBusy || error instanceof OutcomeUnknown)
  );
}

async function switchThisNode(
  context: BlockingContext,
  author: Author,
  { enabled, until }: BlockingSwitchChange,
  cause: DatabaseUnavailable,
): Promise<void> {
  if (until === null || until.getTime() > context.clock.nowMs() + MAX_LOCAL_SECS * 1000) {
    const { status, code, message, headers } = toApiError(cause);
    const detail = `${message}; until it is available again, blocking can be changed only on this node, for at most an hour (timer_secs)`;
    throw new ApiError(status, code, detail, { headers, cause });
  }
  await context.localSwitch.use(author, enabled, until, context.policyRows().blockingSwitch);
  await context.activePolicy.applyLive();
}

function resetBlocking(context: BlockingContext): Route {
  return route({
    method: 'DELETE',
    path: '/blocking',
    access: 'admin',
    tag: 'Blocking',
    summary: 'Cancel a change made by POST, so that the configuration decides whether blocking is enabled',
    handle: async (request) => {
      await context.policy.change(
        authorOf(request),
        async (tx) => {
          const before = await readBlockingSwitch(tx);
          await deleteBlockingSwitch(tx);
          await recordAudit(tx, {
            actor: authorOf(request),
            subject: codedSubject('blocking'),
            action: codedAction('returned_to_configuration'),
            before,
          });
          return { result: undefined, summary: null };
        },
        endLocal(context),
      );
      context.logger.info('blocking is controlled by the configuration again', {
        author: authorOf(request).name,
      });
    },
  });
}
