/**
 * A block with its identity: the run and the number of its first query. As bytes it is stored in the spool: a line of
 * JSON, then the pieces.
 */
import { z } from 'zod';
import { DamagedBlock, type EncodedBlock } from './block-layout.ts';
import type { MinuteCounts } from './minute-counts.ts';

/** Users of a block in the database: the query log and statistics, or one of them. */
export const UsedBy = { BOTH: 'b', LOG: 'l', STATS: 's' } as const;
export type UsedByCode = (typeof UsedBy)[keyof typeof UsedBy];

/** Marks a run as part of another run of its process: its queries are only in the log, or only in statistics. */
export interface RunPart {
  readonly usedBy: typeof UsedBy.LOG | typeof UsedBy.STATS;
  /** UUID of the main run. */
  readonly of: string;
}

/** A block of the log, ready to be stored. */
export interface LogBlock extends EncodedBlock {
  /** UUID of the run, which is one lifetime of a process. */
  readonly runKey: string;
  /** Absent = a main run, whose queries are in the log and counted. */
  readonly part?: RunPart | undefined;
  /** Number of the first query in its run; the others follow. */
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

/** The block as one piece of memory. */
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
  if (at !== bytes.length) throw new DamagedBlock(`read block: ${bytes.length} bytes, expected ${at}`);
  return block;
}

function parseHeader(line: Buffer): z.output<typeof Header> {
  let json: unknown;
  try {
    json = JSON.parse(line.toString('utf8'));
  } catch {
    throw new DamagedBlock('read block: its first line is not JSON');
  }
  const header = Header.safeParse(json);
  if (!header.success) throw new DamagedBlock(`read block: ${z.prettifyError(header.error)}`);
  return header.data;
}
