/**
 * Chooses the server of `database.url` to use: the first one that accepts writes and has not been replaced by another.
 * An old primary that is started again after a failover also accepts writes. It must not be used: rows written to it
 * are lost once it becomes a standby, and it may lack rows of policy that was already active.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { reasonOf } from '../../../shared/errors.ts';
import { DatabaseUnavailable } from './database-errors.ts';
import type { DatabaseTarget } from './database-target.ts';
import {
  queryPosition,
  isBehind,
  isOnOlderTimeline,
  type SeenServer,
  type ServerPosition,
} from './seen-server.ts';

/** A connection to the chosen server, of the role that owns the tables. */
export interface ChosenServer {
  readonly target: DatabaseTarget;
  readonly client: pg.Client;
  /** Null if the server does not report its position. */
  readonly serverPosition: ServerPosition | null;
}

/** Error: the server accepts writes although another one has replaced it. */
class OldPrimary extends DatabaseUnavailable {
  readonly server: string;

  constructor(message: string, server = '') {
    super(message);
    this.server = server;
  }
}

/** Names of the old primaries among the servers that `connectToChosen` rejected. */
export function oldPrimariesIn(error: unknown): string[] {
  if (!(error instanceof Error && error.cause instanceof AggregateError)) return [];
  return error.cause.errors.flatMap((fault: unknown) => (fault instanceof OldPrimary ? [fault.server] : []));
}

/** Milliseconds that other servers have to respond after the first usable one has responded. */
const OTHERS_MS = 1000;
/** Milliseconds between two checks of whether another server has replaced the server in use. */
const COMPARE_MS = 10_000;

/**
 * Message for a connection pooler, which is not supported: notifications, prepared statements and session settings do
 * not work through it, and Weir opens only few connections.
 */
const POOLER = 'this is a pooler, such as PgBouncer: use the address of the PostgreSQL server itself';

/**
 * Connects to the server to use. Rejects a server whose position is behind the one in `seen`, except the embedded
 * server, which has no copies. @throws {DatabaseUnavailable} with the error of each server.
 */
export async function connectToChosen(
  targets: readonly DatabaseTarget[],
  seen: Pick<SeenServer, 'load' | 'path'>,
): Promise<ChosenServer> {
  const refuse = refusalBy(seen);
  const found: (ChosenServer | undefined)[] = [];
  const faults: string[] = [];
  const causes: unknown[] = [];
  const attempts = targets.map((target, place) =>
    tryServer(target, refuse).then(
      (server) => {
        found[place] = server;
        return server;
      },
      (error: unknown) => {
        faults[place] = `${target.name}: ${reasonOf(error)}`;
        causes[place] = error instanceof OldPrimary ? new OldPrimary(error.message, target.name) : error;
        throw error;
      },
    ),
  );
  const all = Promise.allSettled(attempts);
  await Promise.any(attempts).then(
    () => Promise.race([all, sleep(OTHERS_MS, undefined, { ref: false })]),
    () => undefined,
  );
  const chosen = newestOf(found);
  // Closes connections of servers that respond after the choice was made.
  for (const attempt of attempts)
    attempt.then((server) => (server === chosen ? undefined : end(server.client))).catch(() => undefined);
  if (chosen !== undefined) return chosen;
  throw new DatabaseUnavailable(`could not connect to the database: ${faults.join('; ')}`, {
    cause: new AggregateError(causes),
  });
}

/** The first server that no other server has replaced. */
function newestOf(found: readonly (ChosenServer | undefined)[]): ChosenServer | undefined {
  let newest: ChosenServer | undefined;
  for (const server of found) {
    if (server === undefined) continue;
    if (newest === undefined || isOnOlderTimeline(newest.serverPosition, server.serverPosition))
      newest = server;
  }
  return newest;
}

export interface ComparedParts {
  readonly targets: readonly DatabaseTarget[];
  readonly inUse: DatabaseTarget;
  /** The position of the server in use. */
  readonly serverPosition: () => Promise<ServerPosition | null>;
  readonly seen: Pick<SeenServer, 'note'>;
  /** Called with each comparison: the servers that accept changes although the server in use has replaced them. */
  readonly report?: (oldPrimaries: readonly string[]) => void;
  readonly ended: AbortSignal;
  /** Milliseconds between two checks. */
  readonly pauseMs?: number;
}

/**
 * Records the position of the server in use, and checks whether another server has replaced it, until `ended` is
 * aborted.
 * @throws {DatabaseUnavailable} naming the other server
 */
export async function keepComparing(parts: ComparedParts): Promise<void> {
  const { targets, inUse, seen, ended, pauseMs = COMPARE_MS } = parts;
  const others = targets.filter(({ name }) => name !== inUse.name);
  while (await isDueBefore(ended, pauseMs)) {
    // No error is reported here if the server does not respond, because the liveness check does so.
    const own = await unlessEnded(parts.serverPosition(), ended);
    if (own === null) continue;
    await seen.note(own);
    const found = await unlessEnded(
      Promise.all(others.map((other) => serverPositionOf(other, ended))),
      ended,
    );
    const isOld = (_server: DatabaseTarget, at: number): boolean => isOnOlderTimeline(found![at]!, own);
    if (found !== null) parts.report?.(others.filter(isOld).map(({ name }) => name));
    const place = found?.findIndex((other) => isOnOlderTimeline(own, other)) ?? -1;
    if (place === -1) continue;
    await seen.note(found![place]!);
    throw new DatabaseUnavailable(`it was replaced by ${others[place]!.name}`);
  }
}

/** Position of the server of a target; null if no usable server responds, or if it does not report its position. */
async function serverPositionOf(target: DatabaseTarget, ended: AbortSignal): Promise<ServerPosition | null> {
  const server = await connect(target, ended).catch(() => null);
  if (server === null) return null;
  await end(server.client);
  return server.serverPosition;
}

/** Result of `work`; null if it fails or `ended` is aborted first. */
async function unlessEnded<T>(work: Promise<T>, ended: AbortSignal): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const giveUp = (): void => resolve(null);
  ended.addEventListener('abort', giveUp, { once: true });
  if (ended.aborted) giveUp();
  try {
    const result = await Promise.race([work, promise]);
    return ended.aborted ? null : result;
  } catch {
    return null;
  } finally {
    ended.removeEventListener('abort', giveUp);
  }
}

/** Waits for `pauseMs`; false if `ended` is aborted first. */
async function isDueBefore(ended: AbortSignal, pauseMs: number): Promise<boolean> {
  await sleep(pauseMs, undefined, { signal: ended, ref: false }).catch(() => undefined);
  return !ended.aborted;
}

async function tryServer(
  target: DatabaseTarget,
  refuse: (serverPosition: ServerPosition | null) => void,
): Promise<ChosenServer> {
  const server = await connect(target);
  try {
    if (!target.isOurs) refuse(server.serverPosition);
    return server;
  } catch (error) {
    await end(server.client);
    throw error;
  }
}

/**
 * Connects to a server that accepts writes, unless `ended` is aborted first. @throws the reason if the server cannot be
 * used
 */
async function connect(target: DatabaseTarget, ended?: AbortSignal): Promise<ChosenServer> {
  ended?.throwIfAborted();
  if (target.fault !== undefined) throw target.fault;
  const client = new pg.Client(target.owner?.config ?? target.config);
  client.on('error', () => undefined); // A lost connection makes the current statement fail.
  const giveUp = (): undefined => void end(client);
  ended?.addEventListener('abort', giveUp, { once: true });
  try {
    await client.connect();
    const { rows } = await client.query<{ readOnly: string; pid: number }>(
      `SELECT current_setting('transaction_read_only') AS "readOnly", pg_backend_pid() AS pid`,
    );
    const { readOnly, pid } = rows[0]!;
    if (readOnly !== 'off') throw new DatabaseUnavailable('read-only');
    // A connection pooler reports a fake process id. pg reads the id from the protocol, but the types of pg do not
    // include it.
    const { processID } = client as unknown as { processID: number };
    if (processID !== pid) throw new DatabaseUnavailable(POOLER);
    return { target, client, serverPosition: await queryPosition(client) };
  } catch (error) {
    await end(client);
    throw error;
  } finally {
    ended?.removeEventListener('abort', giveUp);
  }
}

/** Creates a check that throws for a server whose position is behind the last one that this node has seen. */
function refusalBy(seen: Pick<SeenServer, 'load' | 'path'>): (serverPosition: ServerPosition | null) => void {
  const last = seen.load();
  return (serverPosition) => {
    if (last === null || serverPosition === null || !isBehind(serverPosition, last)) return;
    // The text must not contain changing numbers, because a different text would be logged each time.
    const fault =
      serverPosition.timeline < last.timeline
        ? `an old primary: it is on timeline ${serverPosition.timeline}, and this node has seen timeline ${last.timeline}`
        : 'an older copy: it lacks data that this node has already seen on its timeline';
    const text = `${fault}; to use it anyway, as after restoring a backup of its files, delete ${seen.path} on each node`;
    throw serverPosition.timeline < last.timeline ? new OldPrimary(text) : new DatabaseUnavailable(text);
  };
}

/** Closes a connection that is no longer needed or has failed, and ignores errors. */
async function end(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
