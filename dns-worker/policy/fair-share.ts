/**
 * The share of a limited resource that one of many users may hold: at most as much as is still free. A single user gets
 * half, two greedy users a third each, and a new user always gets some. A fixed limit would have to suit both a single
 * device and a router in front of a thousand devices.
 */
export function isWithinShare(held: number, heldByAll: number, capacity: number): boolean {
  return held < capacity - heldByAll;
}
