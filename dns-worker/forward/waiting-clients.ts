/**
 * Who waits for the resolver: how many requests of each client network, and how many of them for one question.
 * A network waits with no more than its fair share of what one resolve thread keeps waiting; the threads of a node
 * share nothing of it, as each has connections and sockets of its own.
 */
import { isWithinShare } from './fair-share.ts';

/** Requests that one resolve thread keeps waiting. */
const MAX_WAITING = 16_384;
/** Of one network for one question: what such a burst of answers may come to at most (CVE-2024-33655 DNSBomb). */
const MAX_SAME = 1024;

interface Waiting {
  requests: number;
  /** By hash of the question. */
  readonly byQuestion: Map<number, number>;
}

/** The requests that wait. One per resolve thread. */
export class WaitingClients {
  private readonly networks = new Map<string, Waiting>();
  private requests = 0;

  /**
   * Counts a request of a network for a question, told by a hash that no one can choose; false if the network has its
   * share and is not counted.
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

  /** The end of what `enter` has counted. */
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
