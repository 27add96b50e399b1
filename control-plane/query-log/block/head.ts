/** Reading the head of a block. */
import { z } from 'zod';
import { DNSSEC_STATUS_NAMES, PROTOCOL_NAMES, QUERY_STATUS_NAMES } from '../../../shared/query-log.ts';
import {
  BLOCK_FORMAT,
  type BlockHead,
  DamagedBlock,
  type EncodedBlock,
  HOUR_US,
  MAX_BLOCK_ROWS,
} from './block-layout.ts';

const Count = z.int().min(0).max(0xffff_ffff);
const Place = z.int().min(0).max(MAX_BLOCK_ROWS);
const Moment = z.int();

const Head = z.strictObject({
  format: z.literal(BLOCK_FORMAT),
  rows: Place,
  hour_us: Moment,
  first_us: Moment,
  last_us: Moment,
  names: Place,
  answers: Place,
  clients: z.array(z.tuple([z.string(), Count, Count, Count])),
  outcomes: z.array(
    z.tuple([
      Count,
      z.enum(QUERY_STATUS_NAMES),
      Count,
      z.enum(PROTOCOL_NAMES),
      z.enum(DNSSEC_STATUS_NAMES),
      z.boolean(),
      z.string().nullable(),
      Count,
    ]),
  ),
  rules: z.array(z.tuple([z.string(), z.string(), z.boolean(), z.string()])),
});

/**
 * The head of a block, which must say the same as the columns of its row.
 * @throws {DamagedBlock}
 */
export function readHead(frame: Buffer, block: EncodedBlock): BlockHead {
  const json = parseJson(frame);
  const format = (json as { format?: unknown } | null)?.format;
  if (format !== BLOCK_FORMAT)
    throw new DamagedBlock(`read block: format ${String(format)} is not known here`);
  const parsed = Head.safeParse(json);
  if (!parsed.success) throw new DamagedBlock(`read block: head: ${z.prettifyError(parsed.error)}`);
  const head = parsed.data;
  const isOfRow =
    head.rows === block.rowCount &&
    head.hour_us === block.hourUs &&
    head.first_us === block.firstUs &&
    head.last_us === block.lastUs &&
    head.hour_us % HOUR_US === 0;
  if (!isOfRow) throw new DamagedBlock('read block: the head is of another block');
  return head;
}

function parseJson(frame: Buffer): unknown {
  try {
    return JSON.parse(frame.toString('utf8'));
  } catch {
    throw new DamagedBlock('read block: the head is no JSON');
  }
}
