/** A question on a kept connection, and what every protocol's connections have in common. */
import type { Question } from '../response/question.ts';
import type { ExchangeDone } from './exchange.ts';
import type { ConnectionTraffic, SentState } from '../connections/connection-traffic.ts';

/** A connection that received nothing for this long while a question waited takes no new questions. */
const SILENCE_MS = 1000;

/** A question on its way. */
export class KeptQuery<Connection> implements SentState {
  readonly question: Question;
  readonly done: ExchangeDone;
  /** Connection of the query while in flight; otherwise null. */
  connection: Connection | null = null;
  sentMs = 0;
  receivedBefore = 0;
  idleMs = 0;
  /** Connections that ended without its answer; see `KeptConnections`. */
  losses = 0;
  /** Whether the query had to wait for room. */
  wasQueued = false;

  constructor(question: Question, done: ExchangeDone) {
    this.question = question;
    this.done = done;
  }
}

/** A connection that can carry several questions. */
export interface KeptConnection<Query> {
  /** Questions that it can carry at once, and how many it does. */
  readonly capacity: number;
  readonly inFlight: number;
  readonly isOpen: boolean;
  readonly traffic: ConnectionTraffic;
  send(query: Query): void;
  /** Gives up a question in flight. */
  abandon(query: Query): void;
  destroy(): void;
}

/** Whether the peer of a connection may be gone, as a question on it is given up. */
export function isSilent(query: SentState, traffic: ConnectionTraffic, nowMs: number): boolean {
  if (!traffic.isSilentSince(query)) return false;
  return traffic.received === 0 || nowMs - query.sentMs >= SILENCE_MS;
}
