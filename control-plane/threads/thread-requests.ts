/**
 * Sends requests to resolve threads, and keeps those without a response: explanations, keys of trust points, relayed
 * queries.
 */
import type { TrustPointKeys } from '../../shared/dns/trust-anchors.ts';
import type { Explanation } from '../../shared/threads/explanation.ts';
import type { FromWorker, ToWorker } from '../../shared/threads/messages.ts';

type Explain = Extract<ToWorker, { type: 'explain' }>;

/** The query to explain. */
export type QuestionToExplain = Pick<
  Explain,
  'qname' | 'qtype' | 'client' | 'clientKey' | 'clientId' | 'groupId'
>;

/** Error: no thread responded in time. */
export class ThreadUnavailable extends Error {
  override readonly name = 'ThreadUnavailable';
}

/** ::ffff:127.0.0.1 */
const LOOPBACK = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1);
/** Maximum wait for a response in milliseconds; needed because a thread that dies never responds. */
const WAIT_MS = 10_000;

/** Sends requests to resolve threads and matches responses by id. */
export class ThreadRequests {
  /** Sends a message to any resolve thread; false if there is none. */
  private readonly post: (message: ToWorker) => boolean;
  private readonly explanations = new Map<number, (explanation: Explanation) => void>();
  private readonly trustPoints = new Map<number, (keys: TrustPointKeys | null) => void>();
  private readonly replies = new Map<number, (reply: Uint8Array | null) => void>();
  private lastId = 0;

  constructor(post: (message: ToWorker) => boolean) {
    this.post = post;
  }

  /** Makes a thread explain the answer to a query; may reject with ThreadUnavailable. */
  explain(question: QuestionToExplain): Promise<Explanation> {
    return this.ask(this.explanations, (id) => ({ type: 'explain', id, ...question }));
  }

  /** Makes a thread query the keys of a zone with trust anchors; may reject with ThreadUnavailable. */
  observe(zone: Uint8Array): Promise<TrustPointKeys | null> {
    return this.ask(this.trustPoints, (id) => ({ type: 'observe-trust-point', id, zone }));
  }

  /**
   * Makes a thread answer a message in wire form. `client` is the client's address (16 bytes), `clientKey` its key (''
   * = none). Resolves with null if the message must not be answered; may reject with ThreadUnavailable.
   */
  relay(message: Uint8Array, client: Uint8Array, clientKey: string): Promise<Uint8Array | null> {
    return this.ask(this.replies, (id) => ({ type: 'ask', id, message, client, clientKey, isOwn: false }));
  }

  /** Makes a thread answer an internal query, which is neither logged nor counted. */
  askOwn(message: Uint8Array): Promise<Uint8Array | null> {
    const [client, clientKey] = [LOOPBACK, ''];
    return this.ask(this.replies, (id) => ({ type: 'ask', id, message, client, clientKey, isOwn: true }));
  }

  /** Handles a thread's response; a late response is ignored. */
  take(message: FromWorker): void {
    if (message.type === 'explained') this.explanations.get(message.id)?.(message.explanation);
    else if (message.type === 'trust-point') this.trustPoints.get(message.id)?.(message.keys);
    else if (message.type === 'asked') this.replies.get(message.id)?.(message.reply);
  }

  private ask<T>(pending: Map<number, (answer: T) => void>, ask: (id: number) => ToWorker): Promise<T> {
    const id = ++this.lastId;
    const message = ask(id);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        pending.delete(id);
      };
      const fail = (reason: string): void => {
        settle();
        reject(new ThreadUnavailable(`${message.type}: ${reason}`));
      };
      const timer = setTimeout(() => fail(`no thread answered within ${WAIT_MS} ms`), WAIT_MS);
      pending.set(id, (answer) => {
        settle();
        resolve(answer);
      });
      if (!this.post(message)) fail('no DNS thread is running');
    });
  }
}
