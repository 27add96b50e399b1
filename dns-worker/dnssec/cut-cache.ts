/**
 * Caches zone cuts for the lifetime of the records that prove them. Each thread has a map; if it is full, the oldest
 * cut is evicted. Proven cuts are also stored in memory that all threads of the node share, so that each zone is proven
 * only once.
 */
import { serialize } from 'node:v8';
import { readU16, writeU16 } from '../../shared/dns/wire.ts';
import type { SealedRecords } from '../../shared/memory/sealed-records.ts';
import { Dnskey } from './dnskey.ts';
import type { Name } from './names.ts';
import type { ZoneKeys } from './signature.ts';

/** The kind of cut at a name below a secure zone. */
export type Cut =
  /** A zone whose keys are proven. */
  | ({ readonly kind: 'secure' } & ZoneKeys)
  /** A zone that is proven to have no keys, or none that Weir supports; everything below it is also insecure. */
  | { readonly kind: 'insecure' }
  /** No zone begins at the name. */
  | { readonly kind: 'none' }
  /** No zone begins at the name or below it. */
  | { readonly kind: 'nothing-below' }
  /** The records contradict each other or their signatures. */
  | { readonly kind: 'bogus'; readonly extendedError: number };

/** The settings that threads must have in common to share cuts: the servers of the pools, and trust points. */
export function cutContext(pools: unknown, points: unknown): Uint8Array {
  return serialize([pools, points]);
}

const MAX_ENTRIES = 20_000;

/**
 * Kinds by their code in a shared cut. Bogus cuts are not shared: another thread may get a valid answer from another
 * server.
 */
const SHARED_KINDS = ['secure', 'insecure', 'none', 'nothing-below'] as const;
/** A shared cut: its expiry (f64), its kind, and each key's length (u16) and RDATA. */
const KIND_AT = 8;
const KEYS_AT = 9;

interface Entry {
  readonly cut: Cut;
  readonly expiresAtMs: number;
}

/** Cuts by `nameKey`, with their expiry in milliseconds of the monotonic clock. */
export class CutCache {
  /** Lookups of cuts in progress on this thread; null = unavailable. */
  readonly underWay = new Map<string, Promise<Cut | null>>();
  private readonly entries = new Map<string, Entry>();
  private readonly shared: SealedRecords | null;

  /** `shared` is null if no other thread validates. */
  constructor(shared: SealedRecords | null) {
    this.shared = shared;
  }

  /** The cut at the name with this key, from this thread's own map; undefined = unknown or expired. */
  find(key: string, nowMs: number): Cut | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiresAtMs > nowMs) return entry?.cut;
    this.entries.delete(key);
    return undefined;
  }

  /** Same as `find`, but among cuts that other threads have proven; adds the cut to this thread's map. */
  findShared(name: Name, key: string, nowMs: number): Cut | undefined {
    const bytes = this.shared?.find(name) ?? null;
    const entry = bytes === null ? null : readEntry(name, bytes);
    if (entry === null || entry.expiresAtMs <= nowMs) return undefined;
    this.remember(key, entry);
    return entry.cut;
  }

  /** Stores a cut until it expires, and shares it. */
  keep(name: Name, key: string, entry: Entry): void {
    this.remember(key, entry);
    const bytes = this.shared === null ? null : entryBytes(entry);
    if (bytes !== null) this.shared?.keep(name, bytes);
  }

  private remember(key: string, entry: Entry): void {
    this.entries.delete(key);
    if (this.entries.size >= MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value!);
    this.entries.set(key, entry);
  }
}

/** The shared form of a cut; null if it must not be shared. */
function entryBytes({ cut, expiresAtMs }: Entry): Uint8Array | null {
  if (cut.kind === 'bogus') return null;
  const keys = cut.kind === 'secure' ? cut.keys : [];
  const bytes = new Uint8Array(keys.reduce((size, { rdata }) => size + 2 + rdata.length, KEYS_AT));
  new DataView(bytes.buffer).setFloat64(0, expiresAtMs);
  bytes[KIND_AT] = SHARED_KINDS.indexOf(cut.kind);
  let at = KEYS_AT;
  for (const { rdata } of keys) {
    writeU16(bytes, at, rdata.length);
    bytes.set(rdata, at + 2);
    at += 2 + rdata.length;
  }
  return bytes;
}

function readEntry(name: Name, bytes: Uint8Array): Entry {
  const expiresAtMs = new DataView(bytes.buffer).getFloat64(0);
  const kind = SHARED_KINDS[bytes[KIND_AT]!]!;
  if (kind !== 'secure') return { cut: { kind }, expiresAtMs };
  const keys: Dnskey[] = [];
  for (let at = KEYS_AT; at < bytes.length;) {
    const end = at + 2 + readU16(bytes, at);
    keys.push(Dnskey.read(bytes.subarray(at + 2, end))!);
    at = end;
  }
  // Copy the name, because its memory may be reused.
  return { cut: { kind, name: name.slice(), keys }, expiresAtMs };
}
