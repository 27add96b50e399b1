/**
 * The only access to the database. The handle exists immediately and works as soon as a server is available:
 * connecting, migrating and reconnecting happen in the background, because no other part of Weir may wait for the
 * database. While it is down, every call rejects immediately with `DatabaseUnavailable`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient, QueryResultRow } from 'pg';
import type { Logger } from '../../../shared/log.ts';
import type { BackgroundWork } from './background-work.ts';
import { Connections } from './connections.ts';
import { type BinaryRow, copyOut } from './copy/copy-out.ts';
import { DatabaseUnavailable } from './database-errors.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { targetSource, toSentTarget } from './database-target.ts';
import type { DatabaseTarget, SentTarget, TargetOptions, TargetSource } from './database-target.ts';
import type { UpgradeState } from './major/major-upgrade.ts';
import { migrate } from './migrate.ts';
import { NoticeListeners } from './notice-listeners.ts';
import type { NoticeListener, Watch } from './notice-listeners.ts';
import { EmbeddedDatabaseUnsupported } from './postgres/postgres-runtime.ts';
import { queryPosition, SeenServer } from './seen-server.ts';
import { type ChosenServer, connectToChosen, keepComparing, oldPrimariesIn } from './server-choice.ts';
import { askTables } from './restored-tables.ts';
import { excessOf, prepareQueryRole } from './roles/query-role.ts';
import { enableKeepalive, logIn } from './open-pool.ts';
import { StatementNames } from './statement-names.ts';
import { despiteConflicts, inTransaction } from './transaction.ts';
import type { Queryable, QueryRows, CopyQueryable } from './queryable.ts';

export type { Queryable, CopyQueryable } from './queryable.ts';

/** A borrowed connection, for callers that need pg itself. */
export type LentClient = PoolClient;

/** The part of `background-work.ts` that callers use. */
export type Background = Pick<BackgroundWork, 'read' | 'change'>;

/** State for `/health`. */
export interface DatabaseStatus {
  readonly state: 'starting' | 'up' | 'down';
  /**
   * `embedded`, or the URL that is used or was tried last, without its password. If no server could be used, all URLs,
   * separated by commas.
   */
  readonly server: string;
  /** Reason why the database is not up; never contains a secret. */
  readonly error: string | null;
  /** State of the embedded server's upgrade to another major version of PostgreSQL, if one is in progress. */
  readonly upgrade?: UpgradeState | undefined;
  /** Message for users about unnecessary privileges of the role for queries, while the database is up. */
  readonly excess?: string | undefined;
  /** Message for users: reason why new connections cannot be opened although open connections work. */
  readonly refusal?: string | undefined;
  /** Servers of `database.url` that accept changes although another server has replaced them as primary. */
  readonly oldPrimaries?: readonly string[];
}

/** The database, as used by the rest of Weir. */
export interface Database extends CopyQueryable {
  /**
   * Runs a single statement: a query, or a change that is safe to repeat. If the connection is lost, it is unknown
   * whether the change was stored; use `transaction()` for changes that users request, because it reports this case.
   * @throws {DatabaseUnavailable}
   */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryRows<Row>>;
  status(): DatabaseStatus;
  /** Calls the listener on every change of state; returns a function that removes the listener. */
  onStatus(listener: (status: DatabaseStatus) => void): () => void;
  /**
   * Calls the listener with each payload that a session of any node sends with NOTIFY on `channel`; returns a function
   * that removes the listener. Notifications are missed while the database is unavailable.
   */
  listen(channel: string, listener: NoticeListener): () => void;
  /** Whether notifications of a channel currently arrive. */
  isListening(channel: string): boolean;
  /**
   * Evaluates the watched expression twice per second, immediately after a notification on its channel, and whenever
   * the database becomes available; returns a function that ends the watch. Only one watch may be active at a time.
   */
  watch(watch: Watch): () => void;
  /** Resolves when the database is up; rejects if Weir stops earlier. */
  whenUp(): Promise<void>;
  /**
   * Runs `work` in one transaction; the transaction is rolled back if `work` throws, and retried a few times after a
   * conflict.
   * @throws {DatabaseUnavailable} as OutcomeUnknown if the connection was lost during the commit
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Like `transaction()`, for changes of which only one may run at a time on all nodes. Holds the advisory lock `lock`,
   * and uses a separate connection, so that waiting changes do not occupy the pool.
   */
  transactionInTurn<T>(lock: number, work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Like `transaction`, but as the role that owns the tables, for operations that only this role may do, such as
   * creating and dropping tables. Only one runs at a time.
   */
  transactionAsOwner<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** The queue for maintenance of the whole query log, at low priority. Throws while there is no database. */
  background(): Background;
  /** Options with which a thread opens its own connections. @throws {DatabaseUnavailable} while there is no database */
  target(): SentTarget;
  /** Lends a connection for uses that need pg itself, such as COPY. Only for this directory and for stores. */
  withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  /**
   * Called when Weir stops. If the server does not respond within `withinMs`, the database counts as down from then on.
   */
  giveUpUnlessAnswering(withinMs: number): Promise<void>;
  /**
   * Closes all connections and stops the embedded server; within the time limit, connections and processes that hang
   * are closed or killed.
   */
  close(withinMs?: number): Promise<void>;
}

export interface DatabaseOptions extends TargetOptions {
  /** Maximum number of connections for ordinary statements. */
  readonly poolSize?: number;
  /**
   * Maximum milliseconds that a statement waits for a connection, or that a change waits for earlier changes, before
   * the database counts as busy.
   */
  readonly waitMs?: number;
}

/** Milliseconds between two attempts, doubled after each attempt up to `last`. */
const RETRY_MS = { first: 100, last: 15_000 } as const;
/**
 * Milliseconds after which a database counts as healthy: if it is then lost, the pauses start again with the first one.
 */
const STEADY_MS = 20_000;
/** Default milliseconds for closing. */
const CLOSE_MS = 5000;
/**
 * Default milliseconds for closing connections to an unresponsive server; waiting longer would not help to store more
 * data.
 */
const SILENT_CLOSE_MS = 700;
/** Share of the closing time for which statements in progress may continue. */
const FLIGHT_SHARE = 0.3;

/** A server that is ready for queries. */
interface OpenedServer extends Omit<ChosenServer, 'client'> {
  readonly tables: string | null;
  readonly excess: string | null;
}

/** Starts connecting and returns immediately. */
export function startDatabase(options: DatabaseOptions): Database {
  return new PooledDatabase(options);
}

class PooledDatabase implements Database {
  private readonly options: DatabaseOptions;
  private readonly logger: Logger;
  private readonly source: TargetSource;
  private readonly seen: SeenServer;
  private readonly listeners = new Set<(status: DatabaseStatus) => void>();
  private readonly notices = new NoticeListeners();
  private readonly names = new StatementNames();
  private readonly closing = new AbortController();
  private readonly loop: Promise<void>;
  private current: DatabaseStatus;
  private connections: Connections | undefined;
  /** The error that made the database unavailable. */
  private cause: unknown;
  private oldPrimaries: readonly string[] = [];
  /** Whether the database has been up at least once. */
  private wasUsed = false;
  /** Whether the server counts as down because it did not respond when Weir stopped. */
  private isSilent = false;
  /** The server of this attempt; null = no usable server was found. */
  private tried: string | null = null;
  /**
   * Resolves when the previous connections are closed. They wait for statements in progress, which may hang together
   * with the server.
   */
  private ending: Promise<unknown> = Promise.resolve();

  constructor(options: DatabaseOptions) {
    this.options = options;
    this.logger = options.logger;
    this.source = targetSource(options, (reason) => this.connections?.lose(reason));
    this.seen = new SeenServer(options.lock.dataDir, options.logger);
    this.current = { state: 'starting', server: this.source.name, error: null };
    this.loop = options.lock.taken.then(() => this.run());
  }

  status(): DatabaseStatus {
    const refused = this.connections?.refusal() ?? null;
    const refusal = refused === null ? undefined : reasonOf(refused.cause);
    const { oldPrimaries } = this;
    const upgrade = this.source.upgrade();
    return { ...this.current, upgrade, oldPrimaries, ...(refusal !== undefined && { refusal }) };
  }

  onStatus(listener: (status: DatabaseStatus) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  listen(channel: string, listener: NoticeListener): () => void {
    if (this.notices.add(channel, listener)) this.connections?.listen(channel);
    return () => {
      if (this.notices.remove(channel, listener)) this.connections?.listen(channel, false);
    };
  }

  isListening(channel: string): boolean {
    return this.connections !== undefined && this.notices.isListeningTo(channel);
  }

  watch(watch: Watch): () => void {
    this.notices.watched = watch;
    const stop = this.listen(watch.channel, () => undefined);
    return () => {
      this.notices.watched = null;
      stop();
    };
  }

  whenUp(): Promise<void> {
    if (this.current.state === 'up') return Promise.resolve();
    const { signal } = this.closing;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const fail = (): void =>
      reject(new DatabaseUnavailable('could not wait for the database: Weir is stopping'));
    const off = this.onStatus(({ state }) => state === 'up' && resolve(undefined));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
    return promise.finally(() => {
      off();
      signal.removeEventListener('abort', fail);
    });
  }

  async query<Row extends QueryResultRow>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryRows<Row>> {
    return despiteConflicts(() =>
      this.withClient((client) => this.names.runOn(client).query<Row>(text, values)),
    );
  }

  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return despiteConflicts(() =>
      this.withClient((client) => inTransaction(client, () => work(this.names.runOn(client)))),
    );
  }

  async transactionInTurn<T>(lock: number, work: (tx: Queryable) => Promise<T>): Promise<T> {
    // The statements are sent in one message. Queries in a change use generic plans, because the best plan does not
    // depend on their values.
    const begin = `BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SELECT pg_advisory_xact_lock(${lock})`;
    return despiteConflicts(() =>
      this.up().useInTurn((client) => inTransaction(client, () => work(this.names.runOn(client)), begin)),
    );
  }

  async transactionAsOwner<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return despiteConflicts(() =>
      this.up().useAsOwner((client) => inTransaction(client, () => work(client))),
    );
  }

  copyOut(query: string): Promise<BinaryRow[]> {
    return this.withClient((client) => copyOut(client, query));
  }

  background(): Background {
    return this.up().background;
  }

  target(): SentTarget {
    return toSentTarget(this.up().target);
  }

  async withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.up().use(work);
  }

  async giveUpUnlessAnswering(withinMs: number): Promise<void> {
    const connections = this.connections;
    await connections?.giveUpUnlessAnswering(withinMs);
    this.isSilent = connections !== undefined && connections.isLost();
  }

  async close(withinMs = CLOSE_MS): Promise<void> {
    const untilMs = performance.now() + withinMs;
    const connections = this.connections;
    this.closing.abort();
    const enough = new AbortController();
    const ended = this.loop.then(() => this.ending);
    await Promise.race([ended, pause(withinMs * FLIGHT_SHARE, enough.signal)]);
    enough.abort();
    connections?.cut();
    const leftMs = untilMs - performance.now();
    await this.source.close(this.isSilent ? Math.min(leftMs, SILENT_CLOSE_MS) : leftMs);
  }

  /** Connects, uses the server until it is lost, and starts again. */
  private async run(): Promise<void> {
    let pauseMs: number = RETRY_MS.first;
    while (!this.isClosing()) {
      const startedMs = performance.now();
      try {
        await this.stay(await this.open());
        if (performance.now() - startedMs > STEADY_MS) pauseMs = RETRY_MS.first;
      } catch (error) {
        if (this.isClosing()) return;
        this.cause = error;
        this.oldPrimaries = oldPrimariesIn(error);
        this.set({ state: 'down', server: this.tried ?? this.source.name, error: reasonOf(error) });
        if (error instanceof EmbeddedDatabaseUnsupported) return;
      }
      await pause(pauseMs, this.closing.signal);
      pauseMs = Math.min(pauseMs * 2, RETRY_MS.last);
    }
  }

  private async open(): Promise<OpenedServer> {
    this.tried = null;
    const server = await connectToChosen(await this.source.targets(), this.seen);
    const { target, client, serverPosition } = server;
    this.tried = target.name;
    try {
      if (!target.isOurs) await this.seen.note(serverPosition);
      await enableKeepalive(client);
      await askTables(client, this.wasUsed);
      await migrate(client, this.logger);
      if (target.owner !== undefined) await prepareQueryRole(client, target.owner.queries);
      const excess = await excessOf(client, target.owner?.queries);
      if (!target.isOurs && target.owner !== undefined) await logIn(target.config);
      return { target, serverPosition, excess, tables: await askTables(client, false) };
    } finally {
      await client.end().catch(() => undefined); // The connection is no longer needed or has failed.
    }
  }

  /** Provides connections until the server is lost or must no longer be used. */
  private async stay({ target, serverPosition, excess, tables }: OpenedServer): Promise<void> {
    const { notices } = this;
    const { logger, poolSize = 10, waitMs = 5000 } = this.options;
    const connections = new Connections({ target, tables, logger, notices, poolSize, waitMs });
    this.connections = connections;
    this.wasUsed = true;
    this.oldPrimaries = [];
    if (excess !== null) logger.warn(excess);
    this.set({ state: 'up', server: target.name, error: null, ...(excess !== null && { excess }) });
    const left = new AbortController();
    const comparing =
      target.isOurs || serverPosition === null ? undefined : this.compare(target, connections, left.signal);
    comparing?.catch((error: unknown) => connections.lose(error));
    const reason = await connections.untilLost(this.closing.signal);
    left.abort();
    this.cause = reason;
    this.connections = undefined;
    if (!this.isClosing())
      this.set({
        state: 'down',
        server: target.name,
        error: `the connection to the database was lost: ${reasonOf(reason)}`,
      });
    this.ending = connections.end();
    await comparing?.catch(() => undefined); // It writes its last record first.
  }

  private async compare(inUse: DatabaseTarget, connections: Connections, ended: AbortSignal): Promise<void> {
    const serverPosition = () => connections.use(queryPosition);
    const targets = await this.source.targets();
    const report = (servers: readonly string[]): void => void (this.oldPrimaries = servers);
    await keepComparing({ targets, inUse, serverPosition, seen: this.seen, report, ended });
  }

  private up(): Connections {
    if (this.connections !== undefined) return this.connections;
    throw new DatabaseUnavailable(this.current.error ?? 'database is starting', { cause: this.cause });
  }

  private isClosing(): boolean {
    return this.closing.signal.aborted;
  }

  private set(status: DatabaseStatus): void {
    const before = this.current;
    if (before.state === status.state && before.error === status.error) return;
    this.current = status;
    if (status.state === 'up') this.logger.info('database is up', { server: status.server });
    else this.logger.warn('database is down', { server: status.server, error: status.error });
    for (const listener of this.listeners) listener(status);
  }
}

/** Waits for a time, or until the signal is aborted. */
function pause(timeMs: number, signal: AbortSignal): Promise<void> {
  return sleep(timeMs, undefined, { signal }).catch(() => undefined);
}
