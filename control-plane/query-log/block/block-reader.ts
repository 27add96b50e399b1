/**
 * Reads blocks: only the frames that the caller requests are checked, decompressed and decoded. Any byte of a stored
 * block may be wrong, so inconsistent data throws `DamagedBlock`.
 */
import { constants, crc32, zstdDecompressSync } from 'node:zlib';
import { reasonOf } from '../../../shared/errors.ts';
import { restoreTtls } from './answer-form.ts';
import { readHead, type StoredHead } from './head.ts';
import {
  type BlockHead,
  DamagedBlock,
  type EncodedBlock,
  Frame,
  FRAME_COUNT,
  FRAME_COUNT_BARE,
  MAX_BLOCK_ROWS,
} from './block-layout.ts';
import type { RawBlock } from './block-encoder.ts';
import { fromDeltaPlanes, fromPlanes, placesOfPlanes } from './planes.ts';
import { repeatsFromBytes } from './repeats.ts';

/** Maximum size of a decompressed frame: the names of a full block if all have the maximum length. */
const MAX_FRAME_BYTES = 96 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Names of a block, by index. */
export interface BlockNames {
  /** All texts, each followed by a line feed. */
  readonly texts: Buffer;
  /**
   * Start of each text, and one entry more than there are names: a text ends one byte before the next start, because of
   * the line feed.
   */
  readonly starts: Uint32Array;
  /** Number of queries for each name. */
  readonly counts: Uint32Array;
  /** Index of the rule plus one; 0 = none. */
  readonly rules: Uint32Array;
  /** Offset in the name's text at which the rule's name starts. */
  readonly offsets: Uint32Array;
  /** `NameClass` */
  readonly classes: Uint8Array;
}

/** Answer records of a block. */
export interface BlockAnswers {
  /** Index of the answer records plus one, by query; 0 = none. */
  readonly places: Uint16Array;
  /** Smallest TTL in seconds, by query. */
  readonly ttls: Uint32Array;
  /** By index: the stored records, their start offsets, and their `AnswerForm`. */
  readonly entries: { readonly bytes: Buffer; readonly starts: Uint32Array; readonly forms: Uint8Array };
  /** The records of a query as they were sent; null if none are stored. */
  recordsOf(row: number): Buffer | null;
}

/** One block, either stored or not compressed yet. */
export class BlockReader {
  private readonly block: EncodedBlock | RawBlock;
  private readonly hasAnswers: boolean;
  private texts: Buffer | undefined;
  readonly head: BlockHead;

  /** `head` is the head of this block, if it was already read. @throws {DamagedBlock} if the head cannot be read */
  constructor(block: EncodedBlock | RawBlock, head?: BlockHead) {
    this.block = block;
    const { rowCount } = block;
    this.hasAnswers = 'frames' in block ? block.frames.length === FRAME_COUNT : block.answers !== null;
    if (!('frames' in block)) checkFrameCounts(block);
    if (!(rowCount >= 1 && rowCount <= MAX_BLOCK_ROWS))
      throw new DamagedBlock(`could not read a block: ${rowCount} rows`);
    this.head =
      head ?? ('frames' in block ? block.head : wholeHead(readHead(this.frame(Frame.HEAD), block), block));
  }

  /** All names, each followed by a line feed. */
  nameTexts(): Buffer {
    return (this.texts ??= this.frame(Frame.NAME_TEXTS));
  }

  /** Start of each text; one entry more than there are names. */
  nameStarts(): Uint32Array {
    const texts = this.nameTexts();
    const { names: count } = this.head;
    const starts = new Uint32Array(count + 1);
    const { length } = texts;
    let place = 0;
    // If there are too many line feeds, the excess writes are beyond the end of the typed array, which ignores them.
    for (let at = 0; at < length; at++) if (texts[at] === LINE_FEED) starts[++place] = at + 1;
    if (place !== count || starts[count] !== length)
      throw new DamagedBlock('could not read a block: wrong number of names');
    return starts;
  }

  /** The names without their rules. */
  nameCounts(): Pick<BlockNames, 'texts' | 'starts' | 'counts' | 'classes'> {
    const { names: count } = this.head;
    const texts = this.nameTexts();
    const numbers = this.nameNumbers();
    return {
      texts,
      starts: this.nameStarts(),
      counts: fromPlanes(numbers.subarray(0, count * 4), 4),
      classes: numbers.subarray(count * 8),
    };
  }

  names(): BlockNames {
    const { names: count } = this.head;
    const texts = this.nameTexts();
    const starts = this.nameStarts();
    const numbers = this.nameNumbers();
    return {
      texts,
      starts,
      counts: fromPlanes(numbers.subarray(0, count * 4), 4),
      rules: this.rulesIn(numbers),
      offsets: fromPlanes(numbers.subarray(count * 6, count * 8), 2),
      classes: numbers.subarray(count * 8),
    };
  }

  /** Index plus one of each name's rule in the head; 0 = none. */
  ruleOf(): Uint32Array {
    return this.rulesIn(this.nameNumbers());
  }

  /** Microseconds since 1970, by query. */
  times(): Float64Array {
    const sinceHour = fromDeltaPlanes(this.frame(Frame.TIMES, this.block.rowCount * 4));
    const times = new Float64Array(sinceHour.length);
    for (let row = 0; row < times.length; row++) times[row] = this.head.hour_us + sinceHour[row]!;
    return times;
  }

  /** Index of each query's name. */
  nameOf(): Uint16Array {
    return this.places(Frame.NAMES, this.head.names, 'name');
  }

  /** Index of each query's client in the head. */
  clientOf(): Uint16Array {
    return this.places(Frame.CLIENTS, this.head.clients.length, 'client');
  }

  /** Index of each query's outcome in the head. */
  outcomeOf(): Uint16Array {
    return this.places(Frame.OUTCOMES, this.head.outcomes.length, 'outcome');
  }

  /** Microseconds, by query. */
  responseTimes(): Uint32Array {
    return fromPlanes(this.frame(Frame.RESPONSE_TIMES, this.block.rowCount * 4), 4);
  }

  /** The answers; null if the block stores none. */
  answers(): BlockAnswers | null {
    if (!this.hasAnswers) return null;
    const count = this.head.answers;
    const places = this.places(Frame.ANSWERS, count + 1, 'answer');
    const ttls = fromPlanes(this.frame(Frame.ANSWER_TTLS, this.block.rowCount * 4), 4);
    const dictionary = this.frame(Frame.ANSWER_RECORDS);
    if (dictionary.length < count * 3) throw new DamagedBlock('could not read a block: answers are missing');
    const lengths = fromPlanes(dictionary.subarray(0, count * 2), 2);
    const starts = new Uint32Array(count + 1);
    starts[0] = count * 3;
    for (let place = 0; place < count; place++) starts[place + 1] = starts[place]! + lengths[place]!;
    if (starts[count] !== dictionary.length)
      throw new DamagedBlock('could not read a block: answers have the wrong length');
    const recordsOf = (row: number): Buffer | null => {
      const place = places[row]! - 1;
      if (place < 0) return null;
      const records = Buffer.from(dictionary.subarray(starts[place], starts[place + 1]));
      restoreTtls(records, dictionary[count * 2 + place]!, ttls[row]!);
      return records;
    };
    const forms = dictionary.subarray(count * 2, count * 3);
    return { places, ttls, entries: { bytes: dictionary, starts, forms }, recordsOf };
  }

  /** Reads every frame to check it. @throws {DamagedBlock} */
  check(): void {
    this.names();
    this.times();
    this.nameOf();
    this.clientOf();
    this.outcomeOf();
    this.responseTimes();
    this.answers();
  }

  private nameNumbers(): Buffer {
    return this.frame(Frame.NAME_NUMBERS, this.head.names * 9);
  }

  private rulesIn(numbers: Buffer): Uint32Array {
    const { names: count } = this.head;
    const rules = fromPlanes(numbers.subarray(count * 4, count * 6), 2);
    checkPlaces(rules, this.head.rules.length + 1, 'rule');
    return rules;
  }

  private places(frame: number, limit: number, what: string): Uint16Array {
    const planes = this.frame(frame, this.block.rowCount * 2);
    const places = new Uint16Array(this.block.rowCount);
    const largest = placesOfPlanes(planes, places);
    if (largest >= limit) throw new DamagedBlock(`could not read a block: ${what} ${largest} of ${limit}`);
    return places;
  }

  private frame(index: number, expectedBytes = -1): Buffer {
    const { block } = this;
    const frame =
      'frames' in block
        ? bufferOf(block.frames[index]!)
        : decompress(checkedFrame(block, index), index, expectedBytes);
    if (expectedBytes >= 0 && frame.length !== expectedBytes) {
      throw new DamagedBlock(
        `could not read a block: frame ${index} has ${frame.length} bytes, expected ${expectedBytes}`,
      );
    }
    return frame;
  }
}

/** The head with data from other frames. */
function wholeHead(stored: StoredHead, block: EncodedBlock): BlockHead {
  const { repeats: total = 0 } = stored;
  if (total === 0) return { ...stored, repeats: null };
  const index = block.lengths.length - 1;
  const start = block.lengths[Frame.HEAD]!;
  const bytes = checkedBytes(block, index, block.head.subarray(start, start + block.lengths[index]!));
  return { ...stored, repeats: repeatsFromBytes(decompress(bytes, index, -1), stored, total) };
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function checkFrameCounts({ lengths, checksums, answers, repeats }: EncodedBlock): void {
  const count = (answers === null ? FRAME_COUNT_BARE : FRAME_COUNT) + (repeats > 0 ? 1 : 0);
  if (lengths.length === count && checksums.length === count) return;
  throw new DamagedBlock(`could not read a block: ${lengths.length} frames, expected ${count}`);
}

/** The bytes of one frame as stored, after checking its checksum. */
function checkedFrame(block: EncodedBlock, index: number): Buffer {
  return checkedBytes(block, index, storedFrame(block, index));
}

function checkedBytes({ checksums, lengths }: EncodedBlock, index: number, stored: Buffer): Buffer {
  if (stored.length !== lengths[index])
    throw new DamagedBlock(`could not read a block: frame ${index} is truncated`);
  if ((crc32(stored) | 0) === checksums[index]) return stored;
  throw new DamagedBlock(`could not read a block: the checksum of frame ${index} is wrong`);
}

/** The bytes of one frame as stored. */
function storedFrame(
  { lengths, head, names, queries, answers, firstFrames }: EncodedBlock,
  index: number,
): Buffer {
  const pieces = [
    { from: Frame.HEAD, first: Frame.HEAD, bytes: head },
    { from: Frame.NAME_TEXTS, first: firstFrames?.names ?? Frame.NAME_TEXTS, bytes: names },
    { from: Frame.TIMES, first: firstFrames?.queries ?? Frame.TIMES, bytes: queries },
    { from: Frame.ANSWERS, first: Frame.ANSWERS, bytes: answers },
  ];
  const piece = pieces.findLast(({ from }) => from <= index)!;
  const start = lengths.slice(piece.first, index).reduce((sum, length) => sum + length, 0);
  return (piece.bytes ?? Buffer.alloc(0)).subarray(start, start + lengths[index]!);
}

/** Decompresses into one buffer if the size is known, because joining several buffers would copy them. */
function decompress(stored: Buffer, index: number, expectedBytes: number): Buffer {
  try {
    return zstdDecompressSync(stored, {
      maxOutputLength: MAX_FRAME_BYTES,
      chunkSize: Math.max(1024, expectedBytes >= 0 ? expectedBytes : stored.length * 4),
      params: { [constants.ZSTD_d_windowLogMax]: 27 },
    });
  } catch (error) {
    throw new DamagedBlock(`could not read a block: frame ${index}: ${reasonOf(error)}`, { cause: error });
  }
}

function checkPlaces(places: Uint32Array, limit: number, what: string): void {
  for (let i = 0; i < places.length; i++) {
    if (places[i]! >= limit)
      throw new DamagedBlock(`could not read a block: ${what} ${places[i]} of ${limit}`);
  }
}
