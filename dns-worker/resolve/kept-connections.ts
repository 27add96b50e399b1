/**
 * The connections to one server that are kept for the next question, whatever they speak: a question goes to
 * one that has room, else to a new one, up to a bound. How a connection carries questions is its own affair.
 */
import type { ExchangeDone } from './exchange.ts';

/** A question on its way. */
export interface KeptQuery {
  readonly done: ExchangeDone;
  /** A server may have closed a connection just when we used it: that is no failure yet. */
  retried: boolean;
}

/** A connection that can carry several questions. */
export interface KeptConnection<Query> {
  readonly hasRoom: boolean;
  send(query: Query): void;
  destroy(): void;
}

/** All connections to one server. */
export class KeptConnections<Query extends KeptQuery, Connection extends KeptConnection<Query>> {
  readonly #connections = new Set<Connection>();
  readonly #max: number;
  readonly #open: () => Connection;
  #closed = false;

  /** At most `max` connections, made by `open`, which sees to it that each is removed at its end. */
  constructor(max: number, open: () => Connection) {
    this.#max = max;
    this.#open = open;
  }

  /** Sends a question, or fails it where there is no room for another connection. */
  assign(query: Query): void {
    for (const connection of this.#connections) {
      if (connection.hasRoom) {
        connection.send(query);
        return;
      }
    }
    if (this.#closed || this.#connections.size >= this.#max) {
      const detail = this.#closed ? 'closed' : 'too many questions under way';
      queueMicrotask(() => query.done({ kind: 'failed', reason: 'network', detail }));
      return;
    }
    const connection = this.#open();
    this.#connections.add(connection);
    connection.send(query);
  }

  /** Sends a question once more that its connection did not bring to the server; fails it the second time. */
  reassign(query: Query, detail: string): void {
    if (query.retried || this.#closed) {
      query.done({ kind: 'failed', reason: 'network', detail });
      return;
    }
    query.retried = true;
    this.assign(query);
  }

  /** Forgets a connection that has ended. */
  remove(connection: Connection): void {
    this.#connections.delete(connection);
  }

  /** Ends every connection; nothing that is under way is answered. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#connections) connection.destroy();
  }
}
