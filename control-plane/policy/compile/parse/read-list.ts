/** Reads a list from disk, uncompressed or gzip-compressed, and passes it to the parser chunk by chunk. */
import { reasonOf } from '../../../../shared/errors.ts';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { isGzip } from './gunzip.ts';
import type { ListReading } from './line-rules.ts';
import type { RuleSink, SpecialSink } from './rule-output.ts';
import type { ListStatistics } from './list-statistics.ts';
import { unreadableList } from './list-statistics.ts';
import { ListParser } from './parse-list.ts';

/** Bytes of text per read. */
const CHUNK_BYTES = 131_072;

/**
 * Calls `sink` for each rule of the list at `path`, and `specialSink` for each rule that consists of more than a name.
 * A file that cannot be read to its end is a fault in the statistics, not an error; rules before the damaged part were
 * already passed on.
 */
export async function readList(
  path: string,
  reading: ListReading,
  sink: RuleSink,
  specialSink?: SpecialSink,
): Promise<ListStatistics> {
  const parser = new ListParser(reading, sink, specialSink);
  const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) parser.push(chunk);
  };
  try {
    const isCompressed = await startsAsGzip(path);
    const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
    if (isCompressed) await pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), read);
    else await pipeline(file, read);
  } catch (error) {
    return unreadableList(`could not read the list: ${reasonOf(error)}`);
  }
  return parser.end();
}

async function startsAsGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(2) });
    return isGzip(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
