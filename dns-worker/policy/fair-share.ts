/**
 * The share of a bounded resource that one of many users may take: as much as is left for all others. A single user
 * gets half, two greedy ones a third each, and a newcomer always gets some. So no fixed number has to fit both a single
 * device and a router in front of a thousand.
 */
export function isWithinShare(held: number, heldByAll: number, capacity: number): boolean {
  return held < capacity - heldByAll;
}
