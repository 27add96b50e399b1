/**
 * The tokens of the cluster. They are read at most twice per second, so that the database is not queried for each
 * request, even in a flood of wrong keys; and they are read again after a notification that another node has changed
 * one, so that a revoked token is rejected immediately. While the database is unavailable, the last state is used.
 */
import { elapsedMs } from '../../../../shared/clock.ts';
import type { Clock } from '../../../../shared/clock.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import type { Queryable } from '../../../storage/db/database.ts';
import { type HashedToken, listHashedTokens } from './token-store.ts';

/** Milliseconds after which tokens are read again when needed. */
const FRESH_MS = 500;
/** How long tokens are trusted while the database is unavailable, as for sessions. */
const CACHE_MS = 10 * 60_000;

interface Known {
  readonly byHash: Map<string, HashedToken>;
  /** Start of the read, on the monotonic clock and on the clock that also runs while the machine is suspended. */
  readonly readMs: number;
  readonly cachedFromMs: number;
}

/** Finds tokens by the hash of their key. */
export class TokenMemory {
  private readonly db: Queryable;
  private readonly clock: Clock;
  private known: Known | null = null;
  private reading: Promise<Known> | null = null;
  /** Counts changes on this node: data read before the last change is outdated. */
  private changes = 0;
  private changesKnown = 0;

  constructor(db: Queryable, clock: Clock) {
    this.db = db;
    this.clock = clock;
  }

  /** The token of a key; null if it does not exist. @throws {DatabaseUnavailable} */
  async find(keyHash: Buffer): Promise<HashedToken | null> {
    const { byHash } = await this.current();
    return byHash.get(keyOf(keyHash)) ?? null;
  }

  /** Called when tokens were, or may have been, changed on this node; removes `id` from the cache. */
  remove(id?: number): void {
    this.changes += 1;
    if (this.known === null) return;
    for (const [key, token] of this.known.byHash) if (token.id === id) this.known.byHash.delete(key);
  }

  /** Removes all cached tokens. */
  clearAll(): void {
    this.changes += 1;
    this.known = null;
  }

  private async current(): Promise<Known> {
    const { known } = this;
    const ageMs = known === null ? Infinity : this.clock.monotonicMs() - known.readMs;
    if (known !== null && ageMs < FRESH_MS && this.changes === this.changesKnown) return known;
    try {
      return await (this.reading ??= this.read().finally(() => (this.reading = null)));
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || known === null) throw error;
      if (elapsedMs(this.clock) - known.cachedFromMs > CACHE_MS) throw error;
      return known;
    }
  }

  private async read(): Promise<Known> {
    for (;;) {
      const { changes } = this;
      const readMs = this.clock.monotonicMs();
      const cachedFromMs = elapsedMs(this.clock);
      const tokens = await listHashedTokens(this.db);
      if (changes !== this.changes) continue;
      const byHash = new Map(tokens.map((token) => [keyOf(token.keyHash), token]));
      this.known = { readMs, cachedFromMs, byHash };
      this.changesKnown = changes;
      return this.known;
    }
  }
}

function keyOf(keyHash: Buffer): string {
  return keyHash.toString('base64');
}
