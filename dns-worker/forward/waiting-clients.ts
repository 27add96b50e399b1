/**
 * Counts the requests that wait for the resolver, per client network and question. A network gets at most its fair
 * share of one resolve thread's waiting requests; each thread counts separately, because it has its own connections and
 * sockets.
 */
import { isWithinShare } from '../policy/fair-share.ts';

/** Maximum number of waiting requests per resolve thread. */
const MAX_WAITING = 16_384;
/** Limit per network and question: limits a burst of answers (CVE-2024-33655 DNSBomb). */
const MAX_SAME = 1024;

interface Waiting {
  requests: number;
  /** Number of requests by hash of the question. */
  readonly byQuestion: Map<number, number>;
}

/** Waiting requests. One per resolve thread. */
export class WaitingClients {
  private readonly networks = new Map<string, Waiting>();
  private requests = 0;

  /**
   * Counts a request of a network for a question, which is identified by a hash with a secret seed; false, without
   * counting, if the network has used up its share.
   */
  enter(network: string, question: number): boolean {
    let waiting = this.networks.get(network);
    if (!isWithinShare(waiting?.requests ?? 0, this.requests, MAX_WAITING)) return false;
    const same = waiting?.byQuestion.get(question) ?? 0;
    if (same >= MAX_SAME) return false;
    if (waiting === undefined) this.networks.set(network, (waiting = { requests: 0, byQuestion: new Map() }));
    waiting.byQuestion.set(question, same + 1);
    waiting.requests++;
    this.requests++;
    return true;
  }

  /** Reverses one call of `enter`. */
  leave(network: string, question: number): void {
    const waiting = this.networks.get(network);
    const same = waiting?.byQuestion.get(question);
    if (waiting === undefined || same === undefined) return;
    if (same === 1) waiting.byQuestion.delete(question);
    else waiting.byQuestion.set(question, same - 1);
    this.requests--;
    waiting.requests--;
    if (waiting.requests === 0) this.networks.delete(network);
  }
}
