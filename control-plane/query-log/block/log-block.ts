/**
 * A block with its identity: its run and the sequence number of its first query. The spool stores it as bytes: a line
 * of JSON, then the four pieces.
 */
import { z } from 'zod';
import { DamagedBlock, type EncodedBlock } from './block-layout.ts';
import type { MinuteCounts } from './minute-counts.ts';

/** Users of a block in the database: the query log, statistics, or both. */
export const UsedBy = { BOTH: 'b', LOG: 'l', STATS: 's' } as const;
export type UsedByCode = (typeof UsedBy)[keyof typeof UsedBy];

/** Marks a secondary run of a process, for queries that are only in the log or only in statistics. */
export interface RunPart {
  readonly usedBy: typeof UsedBy.LOG | typeof UsedBy.STATS;
  /** UUID of the main run of the same process. */
  readonly of: string;
}

/** A block of the log, ready to be stored. */
export interface LogBlock extends EncodedBlock {
  /** UUID of the run. A main run is one lifetime of a process. */
  readonly runKey: string;
  /** Absent for a main run, whose queries are both in the log and in statistics. */
  readonly part?: RunPart | undefined;
  /** Sequence number of the first query in the run; those of the other queries follow without gaps. */
  readonly firstSeq: number;
  /** Counts that the block adds to statistics. */
  readonly minutes: readonly MinuteCounts[];
}

const LINE_FEED = 0x0a;
const Count = z.int().min(0);
const Lengths = z.array(Count).max(16);

const Header = z.strictObject({
  runKey: z.uuid(),
  part: z.strictObject({ usedBy: z.enum([UsedBy.LOG, UsedBy.STATS]), of: z.uuid() }).optional(),
  firstSeq: Count,
  rowCount: Count,
  hourUs: z.int(),
  firstUs: z.int(),
  lastUs: z.int(),
  repeats: Count,
  lengths: Lengths,
  checksums: z.array(z.int()).max(16),
  minutes: z.array(
    z.strictObject({
      minuteMs: z.int(),
      queries: Count,
      blocked: Count,
      cached: Count,
      forwarded: Count,
      rateLimited: Count,
      counts: z.record(z.string(), Count),
    }),
  ),
  pieces: z.tuple([Count, Count, Count, Count.nullable()]),
});

/** The block as one buffer. */
export function blockToBytes({ head, names, queries, answers, ...rest }: LogBlock): Buffer {
  const pieces = [head.length, names.length, queries.length, answers?.length ?? null];
  const header = Buffer.from(`${JSON.stringify({ ...rest, pieces })}\n`);
  return Buffer.concat([header, head, names, queries, answers ?? Buffer.alloc(0)]);
}

/** The block that `blockToBytes()` wrote; it shares the memory of `bytes`. @throws {DamagedBlock} */
export function blockFromBytes(bytes: Buffer): LogBlock {
  const end = bytes.indexOf(LINE_FEED);
  const { pieces, ...header } = parseHeader(bytes.subarray(0, Math.max(end, 0)));
  const [head, names, queries, answers] = pieces;
  let at = end + 1;
  const piece = (length: number): Buffer => bytes.subarray(at, (at += length));
  const block = {
    ...header,
    head: piece(head),
    names: piece(names),
    queries: piece(queries),
    answers: answers === null ? null : piece(answers),
  };
  if (at !== bytes.length)
    throw new DamagedBlock(`could not read a block: ${bytes.length} bytes, expected ${at}`);
  return block;
}

function parseHeader(line: Buffer): z.output<typeof Header> {
  let json: unknown;
  try {
    json = JSON.parse(line.toString('utf8'));
  } catch {
    throw new DamagedBlock('could not read a block: its first line is not JSON');
  }
  const header = Header.safeParse(json);
  if (!header.success) throw new DamagedBlock(`could not read a block: ${z.prettifyError(header.error)}`);
  return header.data;
}
