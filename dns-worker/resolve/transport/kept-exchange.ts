/**
 * One question on connections that stay open. If a connection is silent, the question is also sent on another
 * connection: an open connection may have failed without notice (a new WAN address, a restarted firewall), and some
 * servers drop queries that arrive while they answer, or all except the first. The first answer counts.
 */
import type { Exchange, ExchangeDone, ExchangeOutcome } from './exchange.ts';
import type { LearnedLimits } from '../connections/learned-limits.ts';
import type { KeptConnection, KeptQuery } from './kept-query.ts';

/** Milliseconds in which a silent connection may still deliver an answer after another connection has delivered it. */
const COMPARED_MS = 100;

/** The interface to the connections. */
export interface QuerySender<Query> {
  readonly limits: LearnedLimits;
  assign(query: Query): void;
  trySend(query: Query): boolean;
  cancel(query: Query): void;
}

/** The queries of one question. */
export class KeptExchange<
  Query extends KeptQuery<Connection>,
  Connection extends KeptConnection<Query>,
> implements Exchange {
  private readonly sender: QuerySender<Query>;
  private readonly make: (done: ExchangeDone) => Query;
  private readonly done: ExchangeDone;
  /** Queries without an outcome, the newest last. */
  private readonly queries: Query[];
  private isOver = false;

  constructor(sender: QuerySender<Query>, make: (done: ExchangeDone) => Query, done: ExchangeDone) {
    this.sender = sender;
    this.make = make;
    this.done = done;
    const query = this.newQuery();
    this.queries = [query];
    sender.assign(query);
  }

  get wasQueued(): boolean {
    return this.queries.some(({ wasQueued }) => wasQueued);
  }

  resend(): void {
    const connection = this.queries.at(-1)?.connection;
    if (this.isOver || connection === null || connection === undefined) return;
    if (!connection.traffic.mayLeaveOut(this.queries.at(-1)!)) return;
    connection.traffic.isSuspect = true;
    const query = this.newQuery();
    this.queries.push(query);
    if (!this.sender.trySend(query)) this.queries.pop();
  }

  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const query of this.queries) this.sender.cancel(query);
  }

  private newQuery(): Query {
    const query: Query = this.make((outcome) => this.onOutcome(query, outcome));
    return query;
  }

  private onOutcome(query: Query, outcome: ExchangeOutcome): void {
    if (this.isOver) return;
    this.queries.splice(this.queries.indexOf(query), 1);
    const isLost = outcome.kind === 'failed' && outcome.reason !== 'unusable';
    if (isLost && this.queries.length > 0) return;
    this.isOver = true;
    for (const other of this.queries) this.giveUp(other);
    this.done(outcome);
  }

  /**
   * Cancels a query that was answered on another connection, and closes the query's connection if the connection stays
   * silent.
   */
  private giveUp(query: Query): void {
    const { connection } = query;
    if (connection?.traffic.mayLeaveOut(query) !== true) {
      this.sender.cancel(query);
      return;
    }
    setTimeout(() => {
      const isSilent = query.connection === connection && connection.traffic.mayLeaveOut(query);
      this.sender.cancel(query);
      if (!isSilent) return;
      this.sender.limits.noteSilence(query, connection.traffic);
      // The end of the connection immediately moves its other queries to another connection.
      if (connection.traffic.received > 0) connection.destroy();
    }, COMPARED_MS).unref();
  }
}
