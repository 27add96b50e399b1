/** Keeps sightings of clients that identified themselves by their key, until they are stored in the database. */
import type { KeySighting } from './key-sighting-store.ts';

/** Milliseconds between two writes about a key for which the database already has a sighting. */
const REWRITE_MS = 60_000;

interface Noted extends KeySighting {
  /** Time of the last sighting that is stored; null = none. */
  readonly storedMs: number | null;
}

/** Sightings of keys on this node. */
export class KeySightings {
  private readonly noted = new Map<number, Noted>();

  /** Records that a client identified itself by its key in a query. */
  note(clientId: number, key: string, seenMs: number): void {
    const before = this.noted.get(clientId);
    if (before?.key === key) {
      if (seenMs > before.lastMs) this.noted.set(clientId, { ...before, lastMs: seenMs });
    } else this.noted.set(clientId, { clientId, key, firstMs: seenMs, lastMs: seenMs, storedMs: null });
  }

  /** Sightings to store: those of new keys immediately, of other keys after a minute; or all of them. */
  due(which: 'new' | 'all'): KeySighting[] {
    return [...this.noted.values()].filter(
      ({ storedMs, lastMs }) =>
        storedMs === null || (which === 'all' ? lastMs > storedMs : lastMs - storedMs >= REWRITE_MS),
    );
  }

  /** Records that these sightings are stored. */
  settle(stored: readonly KeySighting[]): void {
    for (const { clientId, key, lastMs } of stored) {
      const now = this.noted.get(clientId);
      if (now?.key === key) this.noted.set(clientId, { ...now, storedMs: lastMs });
    }
  }
}
