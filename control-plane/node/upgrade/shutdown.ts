/**
 * Releases this node's resources to another process, step by step. Each step can be undone until the node leaves, that
 * is, stops all other parts and releases the data directory. After that, the node can answer queries from memory until
 * another process answers.
 */
import type { Logger } from '../../../shared/log.ts';
import { NodeState } from '../../../shared/threads/messages.ts';
import type { NodeStateCode } from '../../../shared/threads/messages.ts';
import { reasonOf } from '../../../shared/errors.ts';

/** Operations on the node that the steps need. */
export interface DepartingNode {
  /** The state that the node reports to load balancers. */
  nodeState(): NodeStateCode;
  /** Stops accepting API calls, and writes the active state to disk. Returns the descriptors of all sockets. */
  prepare(): Promise<readonly number[]>;
  /** Answers the queries that were read, and stops reading queries. */
  stopReading(): Promise<void>;
  /** Undoes `prepare` and `stopReading`, as far as they were done; resolves when the threads answer queries. */
  readAgain(): Promise<void>;
  /** Stops all other parts, and finally releases the lock of the data directory. */
  leave(): Promise<void>;
  /**
   * Starts answering queries again, from memory and without a log, while the node leaves or after it has left; resolves
   * when the threads answer queries.
   */
  keepAnswering(): Promise<void>;
}

/** Data for the other process. */
export interface HandedSockets {
  readonly descriptors: readonly number[];
  /** State of the node before it left. */
  readonly nodeState: NodeStateCode;
}

/** The shutdown of one node. The node leaves only once, even if the process that takes over fails. */
export class Shutdown {
  private readonly node: DepartingNode;
  private readonly logger: Logger;
  private readonly step: (text: string) => void;
  private handed: HandedSockets = { descriptors: [], nodeState: NodeState.HOLDING };
  private leaving: Promise<void> | undefined;

  /** `step` is called to report progress. */
  constructor(node: DepartingNode, logger: Logger, step: (text: string) => void) {
    this.node = node;
    this.logger = logger;
    this.step = step;
  }

  /** Whether the node is leaving, or has left. */
  get hasBegun(): boolean {
    return this.leaving !== undefined;
  }

  /** Returns the sockets to hand over; a node that has left returns those of the first call. */
  async prepare(): Promise<HandedSockets> {
    if (!this.hasBegun)
      this.handed = { descriptors: await this.node.prepare(), nodeState: this.node.nodeState() };
    return this.handed;
  }

  /** Answers the queries that were read, and stops reading queries. */
  stopReading(): Promise<void> {
    return this.node.stopReading();
  }

  /** Stops all parts except the sockets, as far as possible; then resolves. */
  leave(): Promise<void> {
    return (this.leaving ??= this.leaveOnce());
  }

  /** Starts answering queries again, either as before or, if the node has left, from memory. */
  resume(): Promise<void> {
    return this.hasBegun ? this.node.keepAnswering() : this.node.readAgain();
  }

  private async leaveOnce(): Promise<void> {
    this.step('all queries in flight are answered');
    try {
      await this.node.leave();
      this.step('the log and the database are closed');
    } catch (error) {
      // Only logged, because the process that takes over checks itself whether the data directory is free.
      this.logger.error('could not stop after an upgrade', { reason: reasonOf(error) });
    }
  }
}
