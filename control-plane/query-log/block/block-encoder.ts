/** Creates a stored block from collected queries: frames, compressed, and their checksums. */
import { promisify } from 'node:util';
import { constants, crc32, zstdCompress, zstdCompressSync, type ZstdOptions } from 'node:zlib';
import { MAX_NAME_TEXT_BYTES, putNameText } from '../../../shared/dns/name.ts';
import { type ByteDictionary, Entry, FIRST_ENTRY } from './byte-dictionary.ts';
import { BlockFormat, type BlockHead, type EncodedBlock, Frame, MAX_BLOCK_ROWS } from './block-layout.ts';
import { FrameMemory } from './frame-memory.ts';
import type { OpenBlock } from './open-block.ts';
import { toDeltaPlanes, toPlanes16, toPlanes32 } from './planes.ts';
import { repeatsToBytes } from './repeats.ts';

const compress = promisify(zstdCompress);
/** Level 3 would take a third longer and save only 2 %. */
const LEVEL = 1;
/** Size in bytes of the output buffer for a short frame. */
const MIN_CHUNK_BYTES = 1024;
/**
 * Frames up to this size, that is all columns except names and answers, are compressed synchronously: using libuv's
 * pool costs 140 us or more of CPU per frame, and compressing such a frame takes at most half a millisecond.
 */
const MAX_SYNC_BYTES = 4 * MAX_BLOCK_ROWS;
const LINE_FEED = 0x0a;

/** A block whose frames are not compressed yet; it shares no memory with the open block. */
export interface RawBlock {
  readonly rowCount: number;
  readonly hourUs: number;
  readonly firstUs: number;
  readonly lastUs: number;
  /** The head, from which the head frame is built. */
  readonly head: BlockHead;
  /** Uncompressed frames, indexed by `Frame`; the frame of the repeats is not included. */
  readonly frames: readonly Uint8Array[];
}

/**
 * The frames of an open block, which may then be cleared and filled again. The frames are in `memory`, which must not
 * be cleared until they are compressed.
 */
export function sealBlock(block: OpenBlock, memory = new FrameMemory()): RawBlock {
  const { rowCount, hourUs, firstUs, lastUs } = block;
  const names = nameFrames(block.names, memory);
  const head = headOf(block);
  const halves = (column: Uint16Array): Uint8Array => toPlanes16(column, rowCount, memory.take(rowCount * 2));
  const words = (column: Uint32Array): Uint8Array => toPlanes32(column, rowCount, memory.take(rowCount * 4));
  const frames = [
    Buffer.from(JSON.stringify({ ...head, repeats: head.repeats?.total })),
    names.texts,
    names.numbers,
    toDeltaPlanes(block.times, rowCount, memory.take(rowCount * 4)),
    halves(block.nameOf),
    halves(block.clientOf),
    halves(block.outcomeOf),
    words(block.responseTimes),
  ];
  if (block.answers.size > 0)
    frames.push(halves(block.answerOf), words(block.answerTtls), answerFrame(block.answers, memory));
  return { rowCount, hourUs, firstUs, lastUs, head, frames };
}

/** Compresses the frames one after another, because compressing several at the same time would need more memory. */
export async function encodeBlock({
  frames,
  head: { repeats },
  ...identity
}: RawBlock): Promise<EncodedBlock> {
  const { rowCount, hourUs, firstUs, lastUs } = identity;
  const stored: Buffer[] = [];
  for (const frame of frames) stored.push(await compressFrame(frame));
  const answers = stored.slice(Frame.ANSWERS);
  const repeated = repeats === null ? [] : [await compressFrame(repeatsToBytes(repeats))];
  const all = [...stored, ...repeated];
  return {
    rowCount,
    hourUs,
    firstUs,
    lastUs,
    repeats: repeats?.total ?? 0,
    lengths: all.map((frame) => frame.length),
    checksums: all.map((frame) => crc32(frame) | 0),
    head: Buffer.concat([stored[Frame.HEAD]!, ...repeated]),
    names: Buffer.concat(stored.slice(Frame.NAME_TEXTS, Frame.TIMES)),
    queries: Buffer.concat(stored.slice(Frame.TIMES, Frame.ANSWERS)),
    answers: answers.length === 0 ? null : Buffer.concat(answers),
  };
}

async function compressFrame(frame: Uint8Array): Promise<Buffer> {
  return frame.length > MAX_SYNC_BYTES
    ? compress(frame, howOf(frame))
    : zstdCompressSync(frame, howOf(frame));
}

function howOf({ length }: Uint8Array): ZstdOptions {
  return {
    chunkSize: Math.max(MIN_CHUNK_BYTES, length >>> 1),
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL },
    // If the frame contains its decompressed length, other readers can decompress it in one call.
    pledgedSrcSize: length,
  };
}

function headOf(block: OpenBlock): BlockHead {
  const repeats = block.headRepeats();
  return {
    format: repeats === null ? BlockFormat.PLAIN : BlockFormat.WITH_REPEATS,
    rows: block.rowCount,
    hour_us: block.hourUs,
    first_us: block.firstUs,
    last_us: block.lastUs,
    names: block.names.size,
    answers: block.answers.size,
    clients: block.headClients(),
    outcomes: block.outcomes.head(),
    rules: [...block.rules.head],
    repeats,
  };
}

function nameFrames(names: ByteDictionary, memory: FrameMemory): { texts: Uint8Array; numbers: Uint8Array } {
  const { words, bytes, size, byteCount } = names;
  // A name in text form, with its line feed, usually needs as many bytes as in wire form.
  let texts = memory.take(byteCount + 2 * MAX_NAME_TEXT_BYTES);
  const rules = new Uint16Array(size);
  const offsets = new Uint16Array(size);
  const numbers = memory.take(size * 9);
  const classes = numbers.subarray(size * 8);
  let at = 0;
  for (let place = 0, entry = FIRST_ENTRY; place < size; place++, entry = names.after(entry)) {
    if (texts.length - at <= MAX_NAME_TEXT_BYTES) texts = larger(texts);
    const start = (entry + Entry.BYTES) * 4;
    const tag = words[entry + Entry.TAG]!;
    const end = putNameText(texts, at, bytes, start);
    rules[place] = tag & 0xffff;
    classes[place] = tag >>> 24;
    const ruleOffset = (tag >>> 16) & 0xff;
    if (ruleOffset > 0) offsets[place] = end - at - textLength(bytes, start + ruleOffset);
    texts[end] = LINE_FEED;
    at = end + 1;
  }
  toPlanes32(names.column(Entry.COUNT), size, numbers);
  toPlanes16(rules, size, numbers.subarray(size * 4));
  toPlanes16(offsets, size, numbers.subarray(size * 6));
  return { texts: texts.subarray(0, at), numbers };
}

const scratch = new Uint8Array(MAX_NAME_TEXT_BYTES);

/** Length in bytes of the text of the name that starts at a position of a longer name; 0 for the root. */
function textLength(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0 ? 0 : putNameText(scratch, 0, bytes, at);
}

function answerFrame(answers: ByteDictionary, memory: FrameMemory): Uint8Array {
  const { words, size } = answers;
  const lengths = new Uint16Array(size);
  const recordsAt = size * 3;
  // Records are copied as whole words; the next record overwrites the padding of the previous one.
  const bytes = memory.take(recordsAt + answers.byteCount + 3);
  const frame = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = recordsAt;
  for (let place = 0, entry = FIRST_ENTRY; place < size; place++, entry = answers.after(entry)) {
    const length = words[entry + Entry.LENGTH]!;
    lengths[place] = length;
    frame.setUint8(size * 2 + place, words[entry + Entry.TAG]!);
    const from = entry + Entry.BYTES;
    for (let i = 0; i < length; i += 4) frame.setInt32(at + i, words[from + (i >>> 2)]!, true);
    at += length;
  }
  toPlanes16(lengths, size, bytes);
  return bytes.subarray(0, at);
}

function larger(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length * 2);
  copy.set(bytes);
  return copy;
}
