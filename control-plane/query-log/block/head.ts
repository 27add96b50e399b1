/** Reads and checks the head of a block. */
import {
  DECISION_ORIGINS,
  DNSSEC_STATUS_NAMES,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
} from '../../../shared/query-log.ts';
import {
  BlockFormat,
  type BlockHead,
  DamagedBlock,
  type EncodedBlock,
  HOUR_US,
  MAX_BLOCK_ROWS,
} from './block-layout.ts';

type Check = (value: unknown) => boolean;

const isWhole: Check = (value) => Number.isSafeInteger(value);
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) =>
  isWhole(value) && (value as number) >= 0 && (value as number) <= 0xffff_ffff;
const isPlace: Check = (value) => isCount(value) && (value as number) <= MAX_BLOCK_ROWS;

function isOneOf(names: readonly string[]): Check {
  const known = new Set<unknown>(names);
  return (value) => known.has(value);
}

function isEntryOf(...fields: readonly Check[]): Check {
  return (entry) =>
    Array.isArray(entry) && entry.length === fields.length && fields.every((check, at) => check(entry[at]));
}

function isListOf(...entries: readonly Check[]): Check {
  return (value) => Array.isArray(value) && value.every((entry) => entries.some((check) => check(entry)));
}

/** The head as JSON. */
export interface StoredHead extends Omit<BlockHead, 'repeats'> {
  /** Total number of repeats; absent in format 1. */
  readonly repeats?: number;
}

const FORMATS: ReadonlySet<unknown> = new Set(Object.values(BlockFormat));

const isOrigin = isOneOf(DECISION_ORIGINS);
const OUTCOME: readonly Check[] = [
  isCount,
  isOneOf(QUERY_STATUS_NAMES),
  isCount,
  isOneOf(PROTOCOL_NAMES),
  isOneOf(DNSSEC_STATUS_NAMES),
  isFlag,
  (value) => value === null || isText(value),
  isCount,
];

/**
 * Check of each field. Hand-written, because a search reads hundreds of heads, and its thread starts in half the time
 * without a schema library.
 */
const FIELDS: Readonly<Record<keyof Omit<StoredHead, 'repeats'>, Check>> = {
  format: (value) => FORMATS.has(value),
  rows: isPlace,
  hour_us: isWhole,
  first_us: isWhole,
  last_us: isWhole,
  names: isPlace,
  answers: isPlace,
  clients: isListOf(
    isEntryOf(isText, isCount, isCount, isCount),
    isEntryOf(isText, isCount, isCount, isCount, isCount),
  ),
  outcomes: isListOf(
    isEntryOf(...OUTCOME),
    isEntryOf(...OUTCOME, isCount, isWhole, (value) => value === null || isOrigin(value)),
  ),
  rules: isListOf(
    isEntryOf(isText, isText, isFlag, isText),
    isEntryOf(isText, isText, isFlag, isText, isListOf(isCount)),
  ),
};
const FIELD_COUNT = Object.keys(FIELDS).length;

/**
 * Reads the head of a block. It must match the columns of the block's row in the database.
 * @throws {DamagedBlock}
 */
export function readHead(frame: Buffer, block: EncodedBlock): StoredHead {
  const json = parseJson(frame);
  const format = (json as { format?: unknown } | null)?.format;
  if (!FORMATS.has(format))
    throw new DamagedBlock(`could not read a block: unknown format ${String(format)}`);
  const head = checked(json as Record<string, unknown>);
  const isOfRow =
    head.rows === block.rowCount &&
    head.hour_us === block.hourUs &&
    head.first_us === block.firstUs &&
    head.last_us === block.lastUs &&
    (head.repeats ?? 0) === block.repeats &&
    head.hour_us % HOUR_US === 0;
  if (!isOfRow) throw new DamagedBlock('could not read a block: the head belongs to another block');
  return head;
}

function checked(json: Readonly<Record<string, unknown>>): StoredHead {
  for (const [name, check] of Object.entries(FIELDS))
    if (!check(json[name])) throw new DamagedBlock(`could not read a block: head: ${name}`);
  const hasRepeats = json.format === BlockFormat.WITH_REPEATS;
  if (hasRepeats && !(isWhole(json.repeats) && (json.repeats as number) > 0))
    throw new DamagedBlock('could not read a block: head: repeats');
  if (Object.keys(json).length !== FIELD_COUNT + (hasRepeats ? 1 : 0))
    throw new DamagedBlock('could not read a block: head: unknown fields');
  return json as unknown as StoredHead;
}

function parseJson(frame: Buffer): unknown {
  try {
    return JSON.parse(frame.toString('utf8'));
  } catch {
    throw new DamagedBlock('could not read a block: the head is not JSON');
  }
}
