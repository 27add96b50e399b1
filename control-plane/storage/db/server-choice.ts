/**
 * Chooses the server of `database.url` to use: the first one that accepts writes and has not been replaced by another.
 * A primary that comes back after a failover also accepts writes; rows written to it are lost once it becomes a
 * standby, and rows that it lacks are policy that was active.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { reasonOf } from '../../../shared/errors.ts';
import { DatabaseUnavailable } from './database-errors.ts';
import type { DatabaseTarget } from './database-target.ts';
import {
  askStanding,
  isBehind,
  isOnOlderTimeline,
  type SeenServer,
  type ServerStanding,
} from './seen-server.ts';

/** A connection to the server that was chosen, of the role that owns the tables. */
export interface ChosenServer {
  readonly target: DatabaseTarget;
  readonly client: pg.Client;
  /** Null if the server does not report it. */
  readonly standing: ServerStanding | null;
}

/** A server whose place another one has taken, and that does not know. */
class OldPrimary extends DatabaseUnavailable {
  readonly server: string;

  constructor(message: string, server = '') {
    super(message);
    this.server = server;
  }
}

/** Names of the old primaries among the servers that `connectToChosen` refused. */
export function oldPrimariesIn(error: unknown): string[] {
  if (!(error instanceof Error && error.cause instanceof AggregateError)) return [];
  return error.cause.errors.flatMap((fault: unknown) => (fault instanceof OldPrimary ? [fault.server] : []));
}

/** Milliseconds that other servers get to answer once one would do. */
const OTHERS_MS = 1000;
/** Milliseconds between two looks whether another server has taken the place of the one in use. */
const COMPARE_MS = 10_000;

/** Weir keeps few connections, and notices, prepared statements and settings of a session do not survive a pooler. */
const POOLER = 'a pooler, such as PgBouncer, stands before PostgreSQL: give the address of the server itself';

/**
 * Connects to the server to use; rejects one that is behind what was `seen`, except the embedded one, which has no
 * copies. @throws {DatabaseUnavailable} with the fault of each server.
 */
export async function connectToChosen(
  targets: readonly DatabaseTarget[],
  seen: Pick<SeenServer, 'recall' | 'path'>,
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
  // One that answers only now is not waited for.
  for (const attempt of attempts)
    attempt.then((server) => (server === chosen ? undefined : end(server.client))).catch(() => undefined);
  if (chosen !== undefined) return chosen;
  throw new DatabaseUnavailable(`connect to database: ${faults.join('; ')}`, {
    cause: new AggregateError(causes),
  });
}

/** The first one whose place no other one has taken. */
function newestOf(found: readonly (ChosenServer | undefined)[]): ChosenServer | undefined {
  let newest: ChosenServer | undefined;
  for (const server of found) {
    if (server === undefined) continue;
    if (newest === undefined || isOnOlderTimeline(newest.standing, server.standing)) newest = server;
  }
  return newest;
}

export interface ComparedParts {
  readonly targets: readonly DatabaseTarget[];
  readonly inUse: DatabaseTarget;
  /** The standing of the server in use. */
  readonly standing: () => Promise<ServerStanding | null>;
  readonly seen: Pick<SeenServer, 'note'>;
  /** Called with each comparison: servers that accept changes although the one in use has taken their place. */
  readonly report?: (oldPrimaries: readonly string[]) => void;
  readonly ended: AbortSignal;
  /** Milliseconds between two looks. */
  readonly pauseMs?: number;
}

/**
 * Remembers how far the server in use has come, and looks whether another one has taken its place, until `ended` is
 * aborted. @throws {DatabaseUnavailable} naming the other one
 */
export async function keepComparing(parts: ComparedParts): Promise<void> {
  const { targets, inUse, seen, ended, pauseMs = COMPARE_MS } = parts;
  const others = targets.filter(({ name }) => name !== inUse.name);
  while (await isDueBefore(ended, pauseMs)) {
    // Whether it answers at all is asked elsewhere.
    const own = await unlessEnded(parts.standing(), ended);
    if (own === null) continue;
    await seen.note(own);
    const found = await unlessEnded(Promise.all(others.map((other) => standingOf(other, ended))), ended);
    const isOld = (_server: DatabaseTarget, at: number): boolean => isOnOlderTimeline(found![at]!, own);
    if (found !== null) parts.report?.(others.filter(isOld).map(({ name }) => name));
    const place = found?.findIndex((other) => isOnOlderTimeline(own, other)) ?? -1;
    if (place === -1) continue;
    await seen.note(found![place]!);
    throw new DatabaseUnavailable(`${others[place]!.name} has taken its place`);
  }
}

/** Null if no usable server answers, or if it does not report its standing. */
async function standingOf(target: DatabaseTarget, ended: AbortSignal): Promise<ServerStanding | null> {
  const server = await connect(target, ended).catch(() => null);
  if (server === null) return null;
  await end(server.client);
  return server.standing;
}

/** Result of `work`; null if it fails, or if `ended` comes first. */
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

/** Waits; false if `ended` comes before. */
async function isDueBefore(ended: AbortSignal, pauseMs: number): Promise<boolean> {
  await sleep(pauseMs, undefined, { signal: ended, ref: false }).catch(() => undefined);
  return !ended.aborted;
}

async function tryServer(
  target: DatabaseTarget,
  refuse: (standing: ServerStanding | null) => void,
): Promise<ChosenServer> {
  const server = await connect(target);
  try {
    if (!target.isOurs) refuse(server.standing);
    return server;
  } catch (error) {
    await end(server.client);
    throw error;
  }
}

/** Connects to a server that takes writes, unless `ended` comes before. @throws what it is not used for */
async function connect(target: DatabaseTarget, ended?: AbortSignal): Promise<ChosenServer> {
  ended?.throwIfAborted();
  if (target.fault !== undefined) throw target.fault;
  const client = new pg.Client(target.owner?.config ?? target.config);
  client.on('error', () => undefined); // A lost connection fails the statement that runs on it.
  const giveUp = (): undefined => void end(client);
  ended?.addEventListener('abort', giveUp, { once: true });
  try {
    await client.connect();
    const { rows } = await client.query<{ readOnly: string; pid: number }>(
      `SELECT current_setting('transaction_read_only') AS "readOnly", pg_backend_pid() AS pid`,
    );
    const { readOnly, pid } = rows[0]!;
    if (readOnly !== 'off') throw new DatabaseUnavailable('read-only');
    // A pooler names a process that it makes up; pg has it from the protocol, and its types do not include it.
    const { processID } = client as unknown as { processID: number };
    if (processID !== pid) throw new DatabaseUnavailable(POOLER);
    return { target, client, standing: await askStanding(client) };
  } catch (error) {
    await end(client);
    throw error;
  } finally {
    ended?.removeEventListener('abort', giveUp);
  }
}

/** Makes what throws for a server that is behind what this node has seen. */
function refusalBy(seen: Pick<SeenServer, 'recall' | 'path'>): (standing: ServerStanding | null) => void {
  const last = seen.recall();
  return (standing) => {
    if (last === null || standing === null || !isBehind(standing, last)) return;
    // Without figures that change: a text that is another one is logged again.
    const fault =
      standing.timeline < last.timeline
        ? `an old primary: it is on timeline ${standing.timeline}, and this node has seen timeline ${last.timeline}`
        : 'an older copy: it lacks what this node has seen of its timeline';
    const text = `${fault}; to use it anyway, as after restoring a backup of its files, remove ${seen.path} on each node`;
    throw standing.timeline < last.timeline ? new OldPrimary(text) : new DatabaseUnavailable(text);
  };
}

/** Closes a connection and ignores errors, because its work is done or has failed already. */
async function end(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
