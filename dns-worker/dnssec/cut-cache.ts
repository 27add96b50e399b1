/**
 * Caches zone cuts for the lifetime of the records that prove them. Bounded: the oldest entry is evicted. One per
 * thread; nothing of it outlives the thread.
 */
import type { ZoneKeys } from './signature.ts';

/** The kind of cut at a name below a secure zone. */
export type Cut =
  /** A zone whose keys are proven. */
  | ({ readonly kind: 'secure' } & ZoneKeys)
  /** A zone that is proven to have no keys, or none that Weir supports; everything below it is insecure, too. */
  | { readonly kind: 'insecure' }
  /** No zone begins here. */
  | { readonly kind: 'none' }
  /** Nor is there anything below. */
  | { readonly kind: 'nothing-below' }
  /** The records contradict each other or their signatures. */
  | { readonly kind: 'bogus'; readonly extendedError: number };

const MAX_ENTRIES = 20_000;

/** Cuts by name, with their expiry in milliseconds of the monotonic clock. */
export class CutCache {
  private readonly entries = new Map<string, { readonly cut: Cut; readonly expiresAtMs: number }>();

  /** The cut at the name with this `nameKey`; undefined = unknown or expired. */
  find(key: string, nowMs: number): Cut | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiresAtMs > nowMs) return entry?.cut;
    this.entries.delete(key);
    return undefined;
  }

  /** Remembers a cut until then. */
  keep(key: string, cut: Cut, expiresAtMs: number): void {
    this.entries.delete(key);
    if (this.entries.size >= MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value!);
    this.entries.set(key, { cut, expiresAtMs });
  }
}
