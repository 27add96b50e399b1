/**
 * How much of something that is bounded one of many may hold: as much as is left for all others. Whoever is alone gets
 * half of it, two that want all get a third each, and there is always room for one who comes later. So no one needs a
 * number that suits both a single device and a router in front of a thousand.
 */
export function isWithinShare(held: number, heldByAll: number, capacity: number): boolean {
  return held < capacity - heldByAll;
}
