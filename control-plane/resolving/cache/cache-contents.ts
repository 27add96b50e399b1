/** Lists and removes entries of the shared answer cache for the API. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import type {
  CacheEntryFilter,
  CacheEntryPage,
  CacheEntryQuery,
  CacheEntryRow,
  CacheMetrics,
} from '../../../shared/api/cache-api.ts';
import {
  CACHE_UNIT,
  CacheEntry,
  CacheHead,
  CacheKeyFlags,
} from '../../../shared/memory/answer-cache-layout.ts';
import type { Clock } from '../../../shared/clock.ts';
import { Counter } from '../../../shared/memory/counters.ts';
import { rcodeName, rrTypeName } from '../../../shared/dns/iana.ts';
import { DnssecStatus } from '../../../shared/query-log.ts';
import type { CopiedEntry } from './cache-index.ts';
import { CacheIndex, entryName } from './cache-index.ts';
import { EntryMatch } from './entry-match.ts';

/** Reads and removes entries. */
export class CacheContents {
  private readonly index: CacheIndex;
  private readonly total: (counter: number) => number;

  /** `total` returns the sum of a counter over all threads. */
  constructor(cache: SharedArrayBuffer, total: (counter: number) => number) {
    this.index = new CacheIndex(cache);
    this.total = total;
  }

  metrics(): CacheMetrics {
    const hits = this.total(Counter.CACHE_HITS);
    const misses = this.total(Counter.CACHE_MISSES);
    return {
      entries: this.index.head(CacheHead.ENTRIES_WORD),
      bytes: this.index.bytes,
      hits,
      misses,
      hit_rate: share(hits, misses),
      insertions: this.index.head(CacheHead.INSERTIONS_WORD),
      evictions: this.index.head(CacheHead.EVICTIONS_WORD),
      optimistic_refreshes: this.total(Counter.CACHE_REFRESHES),
      stale_hits: this.total(Counter.CACHE_STALE_HITS),
      lazy_deletions: this.index.head(CacheHead.LAZY_DELETIONS_WORD),
      compactions: this.index.head(CacheHead.COMPACTIONS_WORD),
    };
  }

  /** The matching entries, in arbitrary order; they may include expired entries. Lets other work run between steps. */
  async page(query: CacheEntryQuery, clock: Clock): Promise<CacheEntryPage> {
    const { limit, offset } = query;
    const now = { wallMs: clock.nowMs(), monotonicSecs: Math.floor(clock.monotonicMs() / 1000) };
    const match = new EntryMatch(query);
    const data: CacheEntryRow[] = [];
    let total = 0;
    for (const turn of this.index.turns()) {
      for (const place of this.index.places(turn, match)) {
        if (total >= offset && data.length < limit) {
          const entry = this.index.copy(place);
          if (entry === null) continue;
          data.push(rowOf(entry, now));
        }
        total++;
      }
      await othersTurn();
    }
    return { data, total, limit, offset };
  }

  /** Removes the matching entries, for all workers at once; returns their number. May reject with CacheBusy. */
  drop(filter: CacheEntryFilter): Promise<number> {
    return this.index.drop(new EntryMatch(filter));
  }
}

/** Hit ratio in percent; 0 without queries. */
export function share(hits: number, misses: number): number {
  return hits + misses === 0 ? 0 : Math.round((hits / (hits + misses)) * 10_000) / 100;
}

/** The current time on both clocks: entries use seconds of the monotonic clock, users expect dates. */
interface Now {
  readonly wallMs: number;
  readonly monotonicSecs: number;
}

function rowOf(entry: CopiedEntry, now: Now): CacheEntryRow {
  const { bytes, view } = entry;
  const secsUntil = (field: number): number => view.getInt32(field, true) - now.monotonicSecs;
  const timestamp = (field: number): string =>
    new Date(Math.floor(now.wallMs / 1000 + secsUntil(field)) * 1000).toISOString();
  const flags = bytes[CacheEntry.KEY_FLAGS]!;
  return {
    domain: entryName(entry),
    type: rrTypeName(view.getUint16(CacheEntry.QTYPE, true)),
    rcode: rcodeName(bytes[CacheEntry.RCODE]!),
    ttl_secs: Math.max(0, secsUntil(CacheEntry.EXPIRES_AT_SECS)),
    stored_at: timestamp(CacheEntry.STORED_AT_SECS),
    expires_at: timestamp(CacheEntry.EXPIRES_AT_SECS),
    stale_until: timestamp(CacheEntry.STALE_UNTIL_SECS),
    answers: view.getUint16(CacheEntry.ANSWER_COUNT, true),
    bytes: view.getUint32(CacheEntry.UNITS, true) * CACHE_UNIT,
    dnssec_status: dnssecName(bytes[CacheEntry.DNSSEC]!),
    dnssec_ok: (flags & CacheKeyFlags.DNSSEC_OK) !== 0,
    checking_disabled: (flags & CacheKeyFlags.CHECKING_DISABLED) !== 0,
    in_use: entry.inUse,
  };
}

function dnssecName(code: number): CacheEntryRow['dnssec_status'] {
  const names = Object.keys(DnssecStatus) as CacheEntryRow['dnssec_status'][];
  return names.find((name) => DnssecStatus[name] === code) ?? 'unchecked';
}
