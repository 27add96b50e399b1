/**
 * The answer cache on disk while Weir is stopped (`cache.persist`): it is written when the last thread has ended, read
 * before the first thread starts, and then deleted. A damaged file, or a file with other settings or hash seeds, is
 * ignored; the cache then starts empty.
 */
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CACHE_SEGMENT_UNITS,
  CACHE_UNIT,
  CacheBucket,
  CacheEntry,
  CacheHead,
} from '../../../shared/memory/answer-cache-layout.ts';
import { CacheMemory } from '../../../shared/memory/cache-memory.ts';
import type { Clock } from '../../../shared/clock.ts';
import { hasErrorCode } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import { CacheIndex, isWhole } from './cache-index.ts';

const DIGEST_SIZE = 32;
const FILE_NAME = 'answer-cache';
/** Identifies the layout of the file and its entries. Change it with the layout. */
const FORMAT = 'weir answer cache 2';

/**
 * Offsets in the file. It consists of a digest of all settings on which the answers depend, two f64 (the time of
 * writing, in seconds of the wall clock and of the monotonic clock), the entries as in memory, and a digest of all
 * preceding bytes.
 */
const SAVED_WALL_AT = DIGEST_SIZE;
const SAVED_MONOTONIC_AT = SAVED_WALL_AT + 8;
const ENTRIES_AT = SAVED_MONOTONIC_AT + 8;

/** The file in a data directory. */
export class CacheFile {
  private readonly path: string;
  private readonly mark: Uint8Array;
  private readonly logger: Logger;

  /** `settings` are all settings on which answers depend; a file with other settings is ignored. */
  constructor(dataDir: string, settings: unknown, logger: Logger) {
    this.path = join(dataDir, FILE_NAME);
    this.mark = digest(Buffer.from(FORMAT + JSON.stringify(settings)));
    this.logger = logger;
  }

  /** Writes the entries that have not expired. Answers of forward zones are omitted. */
  async save(cache: SharedArrayBuffer, clock: Clock): Promise<void> {
    await writeDurably(this.path, this.image(cache, clock));
  }

  /** The content of the file, to send it to another process in memory. */
  image(cache: SharedArrayBuffer, clock: Clock): Buffer {
    const now = secsOf(clock);
    const head = Buffer.alloc(ENTRIES_AT);
    head.set(this.mark);
    head.writeDoubleLE(now.wall, SAVED_WALL_AT);
    head.writeDoubleLE(now.monotonic, SAVED_MONOTONIC_AT);
    const entries: Uint8Array[] = [];
    for (const { bytes, view } of new CacheIndex(cache).entries()) {
      if (isWorthKeeping(view, now.monotonic)) entries.push(bytes);
    }
    const whole = Buffer.concat([head, ...entries]);
    return Buffer.concat([whole, digest(whole)]);
  }

  /**
   * Fills an empty, unused cache from the file; returns the number of entries. A file that cannot be used is logged.
   */
  async load(cache: SharedArrayBuffer, clock: Clock): Promise<number> {
    const found = await this.read();
    return found === null ? 0 : this.fill(cache, clock, found);
  }

  /** Deletes the file of an earlier run, because newer answers were received as an image. */
  async discard(): Promise<void> {
    await rm(this.path, { force: true });
  }

  /**
   * Fills an empty, unused cache with an image; returns the number of entries. An image that cannot be used is logged.
   */
  fill(cache: SharedArrayBuffer, clock: Clock, image: Buffer): number {
    const contents = this.checked(image);
    if (contents === null) return 0;
    const now = secsOf(clock);
    const shiftSecs = this.shiftSecs(contents, now);
    if (shiftSecs === null) return 0;
    const memory = new CacheMemory(cache);
    let loaded = 0;
    for (let at = ENTRIES_AT; at < contents.length;) {
      const size = contents.readUInt32LE(at + CacheEntry.UNITS) * CACHE_UNIT;
      const bytes = contents.subarray(at, at + size);
      if (!isWhole(bytes)) break;
      at += size;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (const field of TIME_FIELDS) view.setInt32(field, view.getInt32(field, true) + shiftSecs, true);
      if (isWorthKeeping(view, now.monotonic) && place(memory, bytes, view)) loaded++;
    }
    return loaded;
  }

  /**
   * Difference between the monotonic clock of the file and the current one, by which times in entries are shifted, so
   * that their TTLs decrease by the elapsed time. The elapsed time is that of the wall clock, but, if the machine was
   * not rebooted, at least that of the monotonic clock. Null if the elapsed time is unknown, because the wall clock
   * went back.
   */
  private shiftSecs(contents: Buffer, now: Secs): number | null {
    const savedMonotonic = contents.readDoubleLE(SAVED_MONOTONIC_AT);
    const goneByWall = now.wall - contents.readDoubleLE(SAVED_WALL_AT);
    if (goneByWall < 0) {
      this.logger.info('ignored the answer cache of the last run: the clock was set back', {
        file: this.path,
      });
      return null;
    }
    const gone = Math.max(goneByWall, now.monotonic - savedMonotonic);
    return now.monotonic - savedMonotonic - gone;
  }

  /** Reads and deletes the file, if it exists. */
  private async read(): Promise<Buffer | null> {
    try {
      const contents = await readFile(this.path);
      // The file is deleted, so that entries that are removed later do not return after a crash.
      await rm(this.path);
      return contents;
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT'))
        this.logger.warn('could not read the answer cache of the last run', {
          file: this.path,
          error: String(error),
        });
      return null;
    }
  }

  /** The content without the final digest; null if it is damaged or was written with other settings. */
  private checked(contents: Buffer): Buffer | null {
    const body = contents.subarray(0, -DIGEST_SIZE);
    const isGood =
      contents.length >= ENTRIES_AT + DIGEST_SIZE &&
      digest(body).equals(contents.subarray(-DIGEST_SIZE)) &&
      body.subarray(0, DIGEST_SIZE).equals(this.mark);
    if (!isGood) this.logger.info('ignored the answer cache of the last run', { file: this.path });
    return isGood ? body : null;
  }
}

function digest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** The current time on both clocks, in whole seconds. */
interface Secs {
  readonly wall: number;
  readonly monotonic: number;
}

const TIME_FIELDS = [CacheEntry.STORED_AT_SECS, CacheEntry.EXPIRES_AT_SECS, CacheEntry.STALE_UNTIL_SECS];

function secsOf(clock: Clock): Secs {
  return { wall: Math.floor(clock.nowMs() / 1000), monotonic: Math.floor(clock.monotonicMs() / 1000) };
}

function isWorthKeeping(view: DataView, nowMonotonicSecs: number): boolean {
  const isOfPools = view.getUint16(CacheEntry.PARTITION, true) === 0;
  return isOfPools && view.getInt32(CacheEntry.EXPIRES_AT_SECS, true) > nowMonotonicSecs;
}

/** Appends an entry to the cache; false if it does not fit. */
function place(memory: CacheMemory, bytes: Uint8Array, view: DataView): boolean {
  const { head, index, slab, bucketMask, slabUnits } = memory;
  const units = bytes.length / CACHE_UNIT;
  let position = head[CacheHead.HEAD_WORD]!;
  const used = position % CACHE_SEGMENT_UNITS;
  // The unused end of a segment begins with a length of 0, because it was never written.
  if (used + units > CACHE_SEGMENT_UNITS) position += CACHE_SEGMENT_UNITS - used;
  if (units > CACHE_SEGMENT_UNITS || position + units > slabUnits) return false;
  const bucket = (view.getInt32(CacheEntry.HASH_LOW, true) & bucketMask) << CacheBucket.SHIFT;
  for (let slot = 0; slot < CacheBucket.SLOTS; slot++) {
    if (index[bucket + CacheBucket.REFERENCE_AT + slot] !== 0) continue;
    slab.set(bytes, position * CACHE_UNIT);
    index[bucket + CacheBucket.TAG_AT + slot] = view.getInt32(CacheEntry.HASH_HIGH, true);
    index[bucket + CacheBucket.REFERENCE_AT + slot] = position + 1;
    head[CacheHead.HEAD_WORD] = position + units;
    head[CacheHead.ENTRIES_WORD] = head[CacheHead.ENTRIES_WORD]! + 1;
    return true;
  }
  return false;
}
