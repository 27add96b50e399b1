/**
 * HTTP of `{api}/blocking`. What is in force is read from memory, so that it can be asked without a database; for a while
 * it can also be switched then, on this node alone.
 */
import { Blocking, BlockingChangeBody } from '../../shared/api/policy/blocking-api.ts';
import type { Logger } from '../../shared/log.ts';
import { ApiError } from '../api/api-error.ts';
import type { Author } from '../api/caller.ts';
import { toApiError } from '../api/problem.ts';
import { authorOf, route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import { recordAudit } from '../audit/audit-store.ts';
import type { Queryable } from '../db/database.ts';
import { DatabaseBusy, DatabaseUnavailable, OutcomeUnknown } from '../db/database-errors.ts';
import type { Follow, PolicyChanges } from '../policy/change.ts';
import { blockingNow } from './blocking-now.ts';
import type { BlockingParts } from './blocking-now.ts';
import { deleteBlockingSwitch, readBlockingSwitch, writeBlockingSwitch } from './blocking-switch-store.ts';
import type { LocalSwitch } from './local-switch.ts';

/** Longest time for which blocking can be switched without a database. */
const MAX_LOCAL_SECS = 3600;

/** What these rows are made of. */
export interface BlockingRouteParts extends BlockingParts {
  readonly policy: PolicyChanges;
  readonly localSwitch: Pick<LocalSwitch, 'isActive' | 'use' | 'end'>;
  /** Publishes the active rows again. */
  readonly applyLive: () => Promise<void>;
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
    summary:
      'Switch all blocking on or off on every node, for a time or until changed; while the database is away for at most an hour, on this node alone',
    body: BlockingChangeBody,
    answer: Blocking,
    handle: async (request) => {
      const { enabled, timer_secs: timerSecs } = request.body;
      const author = authorOf(request);
      const until = timerSecs === null ? null : new Date(parts.clock.nowMs() + timerSecs * 1000);
      const isEverywhere = await switchEverywhere(parts, author, { enabled, until });
      parts.logger.info(enabled ? 'switch blocking on' : 'switch blocking off', {
        until: until?.toISOString() ?? 'changed',
        author: author.name,
        ...(!isEverywhere && { nodes: 'this one, as the database is away' }),
      });
      return blockingNow(parts);
    },
  });
}

/** A switch; `until` null = until changed. */
interface Switch {
  readonly enabled: boolean;
  readonly until: Date | null;
}

/** Stores the switch for all nodes, or switches here; false = here. */
async function switchEverywhere(parts: BlockingRouteParts, author: Author, to: Switch): Promise<boolean> {
  try {
    await parts.policy.change(author, (tx) => storeSwitch(tx, author, to), endLocal(parts));
    return true;
  } catch (error) {
    if (!isWithoutDatabase(error)) throw error;
    await switchHere(parts, author, to, error);
    return false;
  }
}

async function storeSwitch(tx: Queryable, actor: Author, { enabled, until }: Switch) {
  const before = await readBlockingSwitch(tx);
  await writeBlockingSwitch(tx, enabled, until);
  const entry = { actor, action: enabled ? 'switched on' : 'switched off', subject: 'blocking' };
  await recordAudit(tx, { ...entry, before, after: { enabled, until } });
  return { result: undefined, summary: null };
}

/** What is stored now also decides here. */
function endLocal({ localSwitch }: BlockingRouteParts): Follow<undefined> {
  return async (_result, apply) => {
    await localSwitch.end();
    await apply();
  };
}

/** A database that is only busy, or that may have stored the change, is there. */
function isWithoutDatabase(error: unknown): error is DatabaseUnavailable {
  return (
    error instanceof DatabaseUnavailable &&
    !(error instanceof DatabaseBusy || error instanceof OutcomeUnknown)
  );
}

async function switchHere(
  parts: BlockingRouteParts,
  author: Author,
  { enabled, until }: Switch,
  cause: DatabaseUnavailable,
): Promise<void> {
  if (until === null || until.getTime() > parts.clock.nowMs() + MAX_LOCAL_SECS * 1000) {
    const { status, code, message, headers } = toApiError(cause);
    const detail = `${message}; until it is back, blocking can be switched on this node for at most an hour (timer_secs)`;
    throw new ApiError(status, code, detail, { headers, cause });
  }
  await parts.localSwitch.use(author, enabled, until, parts.blockingSwitch());
  await parts.applyLive();
}

function giveBlockingBack(parts: BlockingRouteParts): Route {
  return route({
    method: 'DELETE',
    path: '/blocking',
    access: 'admin',
    tag: 'Blocking',
    summary: 'Let the configuration decide about blocking again',
    handle: async (request) => {
      await parts.policy.change(
        authorOf(request),
        async (tx) => {
          const before = await readBlockingSwitch(tx);
          await deleteBlockingSwitch(tx);
          const entry = {
            actor: authorOf(request),
            action: 'given back to the configuration',
            subject: 'blocking',
          };
          await recordAudit(tx, { ...entry, before });
          return { result: undefined, summary: null };
        },
        endLocal(parts),
      );
      parts.logger.info('let the configuration decide about blocking', { author: authorOf(request).name });
    },
  });
}
