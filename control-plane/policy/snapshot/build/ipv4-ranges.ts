/**
 * Sorts IPv4 prefixes and converts them to ranges without overlaps. There may be tens of thousands, and each change
 * rebuilds all ranges, so prefixes are stored as numbers, without an allocation for each.
 */

/** Start of each range, as u32, and its record; the first range starts at 0.0.0.0. */
export interface Ipv4Ranges {
  readonly starts: Uint32Array;
  readonly records: Uint32Array;
}

const BITS = 32;
const FAMILY_END = 2 ** BITS;
/**
 * A prefix is a u64 that consists, from the highest bits on, of start, length, source and record, so that sorting the
 * numbers gives the order in which `flatten()` needs them.
 */
const LENGTH_SHIFT = 26;
const SOURCE_SHIFT = 24;
/** Maximum index of a record. */
export const MAX_RECORD = 2 ** SOURCE_SHIFT - 1;

/** Collects prefixes. */
export class Ipv4Prefixes {
  private readonly keys: BigUint64Array;
  /** The memory of `keys` as 32-bit words: for each key a low and a high word. */
  private readonly words: Uint32Array;
  private count = 0;

  /** Reserves space for `capacity` prefixes. */
  constructor(capacity: number) {
    this.keys = new BigUint64Array(capacity);
    this.words = new Uint32Array(this.keys.buffer);
  }

  /**
   * Adds a prefix; of two prefixes with the same start and length, the one with the higher source (0..3) applies, or
   * else the one with the later record.
   */
  add(start: number, length: number, source: number, record: number): void {
    this.words[this.count * 2] = (length << LENGTH_SHIFT) | (source << SOURCE_SHIFT) | record;
    this.words[this.count * 2 + 1] = start;
    this.count++;
  }

  /**
   * Resolves nested prefixes: goes through the starts in order, with a stack of the prefixes that contain the current
   * address.
   */
  flatten(): Ipv4Ranges {
    this.keys.subarray(0, this.count).sort();
    const ranges = new RangeWriter(this.count * 2 + 1);
    const openEnds: number[] = []; // exclusive ends
    const openRecords: number[] = [];
    const closeUpTo = (start: number): void => {
      for (let end = openEnds.at(-1); end !== undefined && end <= start; end = openEnds.at(-1)) {
        openEnds.pop();
        openRecords.pop();
        if (end < FAMILY_END) ranges.begin(end, openRecords.at(-1) ?? 0);
      }
    };
    for (let index = 0; index < this.count; index++) {
      const low = this.words[index * 2]!;
      const start = this.words[index * 2 + 1]!;
      const record = low & MAX_RECORD;
      closeUpTo(start);
      ranges.begin(start, record);
      openEnds.push(start + 2 ** (BITS - (low >>> LENGTH_SHIFT)));
      openRecords.push(record);
    }
    closeUpTo(FAMILY_END);
    return ranges.written();
  }
}

/** Writes ranges in ascending order of addresses. */
class RangeWriter {
  private readonly starts: Uint32Array;
  private readonly records: Uint32Array;
  private count = 1;

  constructor(capacity: number) {
    this.starts = new Uint32Array(capacity);
    this.records = new Uint32Array(capacity);
  }

  /** Assigns this record to addresses from `start` on; a later call with the same start replaces an earlier one. */
  begin(start: number, record: number): void {
    if (this.starts[this.count - 1] !== start) this.starts[this.count++] = start;
    this.records[this.count - 1] = record;
  }

  written(): Ipv4Ranges {
    return { starts: this.starts.subarray(0, this.count), records: this.records.subarray(0, this.count) };
  }
}
