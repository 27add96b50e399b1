/**
 * The queue for connections to one server. It has a maximum length, limits each client network to its fair share, and
 * serves networks in turn, so that a long queue of one network does not delay the others.
 */
import { isWithinShare } from '../../policy/fair-share.ts';

/** The queue; first in, first out within a network. */
export class FairQueue<Item> {
  private readonly capacity: number;
  /** Queues in the order in which they are served. */
  private readonly lines = new Map<string, Set<Item>>();
  private size = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** Adds an item of a network; false if the network has used up its share of the queue. */
  add(network: string, item: Item): boolean {
    let line = this.lines.get(network);
    if (!isWithinShare(line?.size ?? 0, this.size, this.capacity)) return false;
    if (line === undefined) this.lines.set(network, (line = new Set()));
    line.add(item);
    this.size++;
    return true;
  }

  /** Takes an item of the next network for which `mayTake` is true; undefined = none. */
  take(mayTake: (network: string) => boolean): Item | undefined {
    for (const [network, line] of this.lines) {
      if (!mayTake(network)) continue;
      const [item] = line;
      line.delete(item!);
      this.size--;
      this.lines.delete(network);
      if (line.size > 0) this.lines.set(network, line);
      return item;
    }
    return undefined;
  }

  /** Removes an item; does nothing if it is not in the queue. */
  remove(network: string, item: Item): void {
    const line = this.lines.get(network);
    if (line?.delete(item) !== true) return;
    this.size--;
    if (line.size === 0) this.lines.delete(network);
  }

  /** Removes all items. */
  clear(): void {
    this.lines.clear();
    this.size = 0;
  }
}
