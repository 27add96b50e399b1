/** A query on a connection that stays open, and the interface of the connections of all protocols. */
import type { Question } from '../response/question.ts';
import type { ExchangeDone } from './exchange.ts';
import type { ConnectionTraffic, SentState } from '../connections/connection-traffic.ts';

/** A connection takes no new queries after this time without received data, if a query is waiting. */
const SILENCE_MS = 1000;

/** A query in flight or waiting. */
export class KeptQuery<Connection> implements SentState {
  readonly question: Question;
  readonly done: ExchangeDone;
  /** Connection of the query; null when it is not in flight. */
  connection: Connection | null = null;
  sentMs = 0;
  receivedBefore = 0;
  idleMs = 0;
  /** Number of connections that ended before the answer arrived; see `KeptConnections`. */
  losses = 0;
  /** Whether the query had to wait for capacity. */
  wasQueued = false;

  constructor(question: Question, done: ExchangeDone) {
    this.question = question;
    this.done = done;
  }
}

/** A connection that can carry several queries. */
export interface KeptConnection<Query> {
  /** Maximum number of concurrent queries, and the current number. */
  readonly capacity: number;
  readonly inFlight: number;
  readonly isOpen: boolean;
  readonly traffic: ConnectionTraffic;
  send(query: Query): void;
  /** Gives up a query in flight. */
  abandon(query: Query): void;
  destroy(): void;
}

/** Whether the peer of a connection may be unreachable, checked when a query on the connection is cancelled. */
export function isSilent(query: SentState, traffic: ConnectionTraffic, nowMs: number): boolean {
  if (!traffic.isSilentSince(query)) return false;
  return traffic.received === 0 || nowMs - query.sentMs >= SILENCE_MS;
}
