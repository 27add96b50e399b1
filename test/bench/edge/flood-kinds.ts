// Names of the floods of the edge bench.

/** Kinds of floods, by their names in the table. */
export const FLOODS = [
  '5,000 idle TCP connections',
  '1,000 idle DoT connections',
  '500 slow senders',
  '1,000 TLS handshakes a second',
  '50,000 q/s of one client over its limit',
] as const;
export type FloodKind = (typeof FLOODS)[number];
