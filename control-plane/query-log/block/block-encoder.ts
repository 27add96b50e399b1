/** Makes a stored block of the queries that were gathered: frames, compressed in libuv's pool, and their checksums. */
import { promisify } from 'node:util';
import { constants, crc32, zstdCompress } from 'node:zlib';
import { MAX_NAME_TEXT_BYTES, putNameText } from '../../../shared/dns/name-text.ts';
import type { ByteDictionary } from './byte-dictionary.ts';
import { BLOCK_FORMAT, type BlockHead, type EncodedBlock, Frame } from './block-layout.ts';
import type { OpenBlock } from './open-block.ts';
import { toDeltaPlanes, toPlanes } from './planes.ts';

const compress = promisify(zstdCompress);
/** Level 3 takes a third longer and saves 2 %. */
const LEVEL = 1;
/** Bytes of output memory of a short frame. */
const MIN_CHUNK_BYTES = 1024;
const LINE_FEED = 0x0a;

/** A block whose frames are not compressed yet; it shares no memory with the open block. */
export interface RawBlock {
  readonly rowCount: number;
  readonly hourUs: number;
  readonly firstUs: number;
  readonly lastUs: number;
  /** The same as its frame. */
  readonly head: BlockHead;
  /** By `Frame`. */
  readonly frames: readonly Uint8Array[];
}

/** The frames of an open block, which may then be cleared and filled again. */
export function sealBlock(block: OpenBlock): RawBlock {
  const { rowCount, hourUs, firstUs, lastUs } = block;
  const names = nameFrames(block.names);
  const head = headOf(block);
  const frames = [
    Buffer.from(JSON.stringify(head)),
    names.texts,
    names.numbers,
    toDeltaPlanes(block.times, rowCount),
    toPlanes(block.nameOf, rowCount, 2),
    toPlanes(block.clientOf, rowCount, 2),
    toPlanes(block.outcomeOf, rowCount, 2),
    toPlanes(block.responseTimes, rowCount, 4),
  ];
  if (block.answers.size > 0) {
    frames.push(
      toPlanes(block.answerOf, rowCount, 2),
      toPlanes(block.answerTtls, rowCount, 4),
      answerFrame(block.answers),
    );
  }
  return { rowCount, hourUs, firstUs, lastUs, head, frames };
}

/** Compresses the frames, one after the other: more at once would need more memory. */
export async function encodeBlock({
  frames,
  rowCount,
  hourUs,
  firstUs,
  lastUs,
}: RawBlock): Promise<EncodedBlock> {
  const stored: Buffer[] = [];
  for (const frame of frames) {
    const chunkSize = Math.max(MIN_CHUNK_BYTES, frame.length >>> 1);
    // With its length in the frame, other readers can decompress it in one call.
    const params = { [constants.ZSTD_c_compressionLevel]: LEVEL };
    stored.push(await compress(frame, { chunkSize, params, pledgedSrcSize: frame.length }));
  }
  const answers = stored.slice(Frame.ANSWERS);
  return {
    rowCount,
    hourUs,
    firstUs,
    lastUs,
    lengths: stored.map((frame) => frame.length),
    checksums: stored.map((frame) => crc32(frame) | 0),
    head: stored[Frame.HEAD]!,
    names: Buffer.concat(stored.slice(Frame.NAME_TEXTS, Frame.TIMES)),
    queries: Buffer.concat(stored.slice(Frame.TIMES, Frame.ANSWERS)),
    answers: answers.length === 0 ? null : Buffer.concat(answers),
  };
}

function headOf(block: OpenBlock): BlockHead {
  return {
    format: BLOCK_FORMAT,
    rows: block.rowCount,
    hour_us: block.hourUs,
    first_us: block.firstUs,
    last_us: block.lastUs,
    names: block.names.size,
    answers: block.answers.size,
    clients: block.headClients(),
    outcomes: block.headOutcomes(),
    rules: [...block.rules.head],
  };
}

function nameFrames({ bytes, starts, tags, counts, size }: ByteDictionary): {
  texts: Uint8Array;
  numbers: Uint8Array;
} {
  let texts = new Uint8Array(starts[size]! * 2 + MAX_NAME_TEXT_BYTES);
  const rules = new Uint16Array(size);
  const offsets = new Uint16Array(size);
  const classes = new Uint8Array(size);
  const scratch = new Uint8Array(MAX_NAME_TEXT_BYTES);
  let at = 0;
  for (let place = 0; place < size; place++) {
    if (texts.length - at <= MAX_NAME_TEXT_BYTES) texts = larger(texts);
    const start = starts[place]!;
    const tag = tags[place]!;
    const end = putNameText(texts, at, bytes, start);
    rules[place] = tag & 0xffff;
    classes[place] = tag >>> 24;
    const ruleAt = start + ((tag >>> 16) & 0xff);
    if (ruleAt > start) {
      const isRoot = bytes[ruleAt] === 0;
      offsets[place] = end - at - (isRoot ? 0 : putNameText(scratch, 0, bytes, ruleAt));
    }
    texts[end] = LINE_FEED;
    at = end + 1;
  }
  const numbers = [toPlanes(counts, size, 4), toPlanes(rules, size, 2), toPlanes(offsets, size, 2), classes];
  return { texts: texts.subarray(0, at), numbers: Buffer.concat(numbers) };
}

function answerFrame({ bytes, starts, tags, size }: ByteDictionary): Uint8Array {
  const lengths = new Uint16Array(size);
  for (let place = 0; place < size; place++) lengths[place] = starts[place + 1]! - starts[place]!;
  const records = bytes.subarray(0, starts[size]);
  return Buffer.concat([toPlanes(lengths, size, 2), toPlanes(tags, size, 1), records]);
}

function larger(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length * 2);
  copy.set(bytes);
  return copy;
}
