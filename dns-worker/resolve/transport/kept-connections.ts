/**
 * The connections to one server, which stay open for later questions, for any protocol: a question uses a connection
 * with free capacity, or a new connection up to a limit; if there is neither, it waits until its timeout. No client
 * network gets more than its fair share of the capacity. `kept-exchange.ts` retries on another connection if a
 * connection is silent.
 */
import type { Clock } from '../../../shared/clock.ts';
import { isWithinShare } from '../../policy/fair-share.ts';
import { type Exchange, type ExchangeDone, lossOf } from './exchange.ts';
import type { LearnedLimits } from '../connections/learned-limits.ts';
import { FairQueue } from '../connections/fair-queue.ts';
import { KeptExchange } from './kept-exchange.ts';
import type { KeptConnection, KeptQuery } from './kept-query.ts';

/** Maximum number of questions that wait for a connection to one server. */
const MAX_QUEUED = 16_384;
/**
 * A question fails after this many losses; the loss of a connection that has delivered nothing counts as half of this
 * number.
 */
const MAX_LOSSES = 16;

/** Events of a connection. */
export interface ConnectionEvents<Query> {
  /** Called after the connection has ended for any reason. */
  closed(): void;
  /** Called after a sent query is no longer in flight on the connection, with any outcome. */
  left(query: Query): void;
  /**
   * Called if the connection ended with this query in flight or unsent; `hasProgressed` = the connection had delivered
   * answers.
   */
  lost(query: Query, detail: string, hasProgressed: boolean): void;
  /** Called after the connection's capacity for questions has changed. */
  changed(): void;
}

/** Rules for opening and evaluating connections to a server. */
export interface KeptParts<Query, Connection> {
  /** Maximum number of connections that are not silent; the maximum of all connections is twice this number. */
  readonly max: number;
  readonly clock: Clock;
  readonly limits: LearnedLimits;
  open(events: ConnectionEvents<Query>): Connection;
}

/** All connections to one server. */
export class KeptConnections<Query extends KeptQuery<Connection>, Connection extends KeptConnection<Query>> {
  readonly limits: LearnedLimits;
  private readonly connections = new Set<Connection>();
  private readonly parts: KeptParts<Query, Connection>;
  private readonly queue = new FairQueue<Query>(MAX_QUEUED);
  /** Number of questions on connections, by network. */
  private readonly held = new Map<string, number>();
  private heldByAll = 0;
  private closed = false;

  constructor(parts: KeptParts<Query, Connection>) {
    this.parts = parts;
    this.limits = parts.limits;
  }

  /** Resolves a question; `make` creates a query for each connection on which the question is sent. */
  ask(make: (done: ExchangeDone) => Query, done: ExchangeDone): Exchange {
    return new KeptExchange(this, make, done);
  }

  /** Closes every connection; questions in flight remain without an answer. */
  close(): void {
    this.closed = true;
    this.queue.clear();
    for (const connection of this.connections) connection.destroy();
  }

  /** Sends a query, queues it until there is capacity, or fails it if too many queries of its network are waiting. */
  assign(query: Query): void {
    if (this.closed) {
      queueMicrotask(() => query.done({ kind: 'failed', reason: 'network', detail: 'closed' }));
      return;
    }
    if (this.queue.isEmpty && this.trySend(query)) return;
    if (this.queue.add(networkOf(query), query)) {
      query.wasQueued = true;
      this.sendQueued();
    } else {
      const detail = 'too many queries in flight';
      queueMicrotask(() => query.done({ kind: 'failed', reason: 'local', detail }));
    }
  }

  /** Sends a query if there is capacity now; returns whether it was sent. */
  trySend(query: Query): boolean {
    if (this.closed || !this.isWithinShare(networkOf(query))) return false;
    const connection = this.withRoom() ?? (this.mayConnect ? this.connect() : null);
    if (connection === null) return false;
    this.send(query, connection);
    return true;
  }

  /** Cancels a query, sent or waiting. */
  cancel(query: Query): void {
    const { connection } = query;
    query.connection = null;
    if (connection === null) this.queue.remove(networkOf(query), query);
    else connection.abandon(query);
  }

  private send(query: Query, connection: Connection): void {
    const network = networkOf(query);
    this.held.set(network, (this.held.get(network) ?? 0) + 1);
    this.heldByAll++;
    connection.send(query);
  }

  private release(query: Query): void {
    const network = networkOf(query);
    const held = (this.held.get(network) ?? 0) - 1;
    if (held > 0) this.held.set(network, held);
    else this.held.delete(network);
    this.heldByAll--;
    this.sendQueued();
  }

  private sendQueued(): void {
    while (!this.closed && !this.queue.isEmpty && this.hasRoom) {
      const query = this.queue.take((network) => this.isWithinShare(network));
      if (query === undefined) return;
      this.send(query, this.withRoom() ?? this.connect());
    }
  }

  /** Whether a network may have another question in flight. */
  private isWithinShare(network: string): boolean {
    // All connections have the same limits, so use those of the first connection.
    const [connection] = this.connections;
    const each = connection === undefined ? Infinity : Math.min(connection.capacity, this.limits.answers);
    return isWithinShare(this.held.get(network) ?? 0, this.heldByAll, this.parts.max * each);
  }

  /** Sends a question again after its connection failed, as long as connections make progress. */
  private reassign(query: Query, detail: string, hasProgressed: boolean): void {
    query.losses += hasProgressed ? 1 : MAX_LOSSES / 2;
    if (query.losses >= MAX_LOSSES || this.closed) query.done(lossOf(detail));
    else this.assign(query);
  }

  private get hasRoom(): boolean {
    return this.withRoom() !== null || this.mayConnect;
  }

  private get mayConnect(): boolean {
    const { max } = this.parts;
    const { size } = this.connections;
    if (size < max) return true;
    let suspects = 0;
    for (const { traffic } of this.connections) if (traffic.isSuspect) suspects++;
    return size - suspects < max && size < 2 * max;
  }

  /** A connection that can take a question; null = none. Closes connections that are no longer useful. */
  private withRoom(): Connection | null {
    const { answers, idleMs } = this.limits;
    const nowMs = this.parts.clock.monotonicMs();
    for (const connection of this.connections) {
      const { traffic, inFlight } = connection;
      const isIdleTooLong = inFlight === 0 && traffic.sent > 0 && nowMs - traffic.lastReceivedMs >= idleMs;
      if (traffic.sent >= answers || isIdleTooLong) {
        if (inFlight === 0) this.remove(connection);
      } else if (connection.isOpen && inFlight < connection.capacity && !traffic.isSuspect) return connection;
    }
    return null;
  }

  private remove(connection: Connection): void {
    this.connections.delete(connection);
    connection.destroy();
  }

  private connect(): Connection {
    const connection: Connection = this.parts.open({
      closed: () => {
        this.connections.delete(connection);
        this.sendQueued();
      },
      left: (query) => this.release(query),
      lost: (query, detail, hasProgressed) => this.reassign(query, detail, hasProgressed),
      changed: () => this.sendQueued(),
    });
    this.connections.add(connection);
    return connection;
  }
}

function networkOf({ question }: KeptQuery<unknown>): string {
  return question.network ?? '';
}
