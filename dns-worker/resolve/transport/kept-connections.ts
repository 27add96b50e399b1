/**
 * The connections to one server that are kept for the next question, for any protocol: a question uses one with room,
 * else a new one up to a limit, else it waits until its timeout. No client network has more questions on them than its
 * fair share.
 */
import { isWithinShare } from '../../policy/fair-share.ts';
import { type Exchange, type ExchangeDone, lossOf } from './exchange.ts';
import { FairQueue } from './fair-queue.ts';
import type { Question } from '../response/question.ts';

/** Questions that wait for room on the connections to one server. */
const MAX_QUEUED = 16_384;
/** A connection that brought nothing for so long while a question waited takes no more of them. */
const SILENCE_MS = 1000;

/** A question on its way. */
export interface KeptQuery<Connection> {
  readonly question: Question;
  readonly done: ExchangeDone;
  /** Its connection while in flight; null before and afterwards. */
  connection: Connection | null;
  /** On the monotonic clock. */
  sentMs: number;
  /** Answers that had come on the connection by then. */
  receivedBefore: number;
  /** A server may have closed a connection just when we used it: that is no failure yet. */
  retried: boolean;
  /** It has had to wait for room. */
  wasQueued: boolean;
}

/** A connection that can carry several questions. */
export interface KeptConnection<Query> {
  /** Questions that it can carry at once. */
  readonly capacity: number;
  readonly hasRoom: boolean;
  send(query: Query): void;
  /** Gives up a question in flight. */
  abandon(query: Query): void;
  destroy(): void;
}

/** Whether the peer of a connection that has brought `received` answers may be gone, as a question on it is given up. */
export function isSilent(query: KeptQuery<unknown>, received: number, nowMs: number): boolean {
  return received === query.receivedBefore && (received === 0 || nowMs - query.sentMs >= SILENCE_MS);
}

/** What a connection tells of. */
export interface ConnectionEvents<Query> {
  /** It has ended. */
  closed(): void;
  /** A sent question has left the connection, with any outcome. */
  left(query: Query): void;
  /** It worked before, and ended with this question in flight or unsent. */
  refused(query: Query, detail: string): void;
  /** It can carry another number of questions. */
  changed(): void;
}

/** All connections to one server. */
export class KeptConnections<Query extends KeptQuery<Connection>, Connection extends KeptConnection<Query>> {
  private readonly connections = new Set<Connection>();
  private readonly max: number;
  private readonly open: (events: ConnectionEvents<Query>) => Connection;
  private readonly queue = new FairQueue<Query>(MAX_QUEUED);
  /** Questions on connections, by network. */
  private readonly held = new Map<string, number>();
  private heldByAll = 0;
  private closed = false;

  /** At most `max` connections, made by `open`. */
  constructor(max: number, open: (events: ConnectionEvents<Query>) => Connection) {
    this.max = max;
    this.open = open;
  }

  /** Sends a question, or has it wait for room; fails it where too many of its network wait. */
  ask(query: Query): Exchange {
    this.assign(query);
    return {
      get wasQueued() {
        return query.wasQueued;
      },
      resend: () => undefined,
      cancel: () => {
        const { connection } = query;
        query.connection = null;
        if (connection === null) this.queue.remove(networkOf(query), query);
        else connection.abandon(query);
      },
    };
  }

  /** Closes every connection; questions in flight get no answer. */
  close(): void {
    this.closed = true;
    this.queue.clear();
    for (const connection of this.connections) connection.destroy();
  }

  /** Sends a question, has it wait, or fails it. */
  private assign(query: Query): void {
    if (this.closed) {
      queueMicrotask(() => query.done({ kind: 'failed', reason: 'network', detail: 'closed' }));
      return;
    }
    const network = networkOf(query);
    if (this.queue.isEmpty && this.hasRoom && this.isWithinShare(network)) this.send(query);
    else if (this.queue.add(network, query)) {
      query.wasQueued = true;
      this.sendQueued();
    } else {
      const detail = 'too many questions under way';
      queueMicrotask(() => query.done({ kind: 'failed', reason: 'local', detail }));
    }
  }

  /** Sends a question, on a new connection if need be; there is room. */
  private send(query: Query): void {
    const network = networkOf(query);
    this.held.set(network, (this.held.get(network) ?? 0) + 1);
    this.heldByAll++;
    (this.withRoom ?? this.connect()).send(query);
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
      this.send(query);
    }
  }

  /** Whether a network may have another question in flight. */
  private isWithinShare(network: string): boolean {
    // One connection is like another.
    const [connection] = this.connections;
    const capacity = connection === undefined ? Infinity : this.max * connection.capacity;
    return isWithinShare(this.held.get(network) ?? 0, this.heldByAll, capacity);
  }

  /** Resends a question that its connection did not deliver; fails it the second time. */
  private reassign(query: Query, detail: string): void {
    if (query.retried || this.closed) {
      query.done(lossOf(detail));
      return;
    }
    query.retried = true;
    this.assign(query);
  }

  private get hasRoom(): boolean {
    return this.connections.size < this.max || this.withRoom !== null;
  }

  /** A connection that can take a question; null = none of those that there are. */
  private get withRoom(): Connection | null {
    for (const connection of this.connections) if (connection.hasRoom) return connection;
    return null;
  }

  private connect(): Connection {
    const connection: Connection = this.open({
      closed: () => {
        this.connections.delete(connection);
        this.sendQueued();
      },
      left: (query) => this.release(query),
      refused: (query, detail) => this.reassign(query, detail),
      changed: () => this.sendQueued(),
    });
    this.connections.add(connection);
    return connection;
  }
}

function networkOf({ question }: KeptQuery<unknown>): string {
  return question.network ?? '';
}
