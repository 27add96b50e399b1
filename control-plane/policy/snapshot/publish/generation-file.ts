/**
 * One generation as bytes: attributes, and the rows and sources from which a snapshot is built. A generation is one
 * published state of policy. Its rule table and special rules are in a separate file, which generations share and which
 * is named after the identity of the table. All numbers are little-endian:
 *
 * - six u32: magic number, format, size of the JSON in bytes, numbers of attribute offsets, pairs and name counts
 * - the JSON
 * - the three attribute arrays (u32 each)
 * - CRC-32 of all preceding bytes (u32)
 */
import { crc32 } from 'node:zlib';
import type { ListStatistics } from '../../compile/parse/list-statistics.ts';
import type { AttributeTable } from '../../compile/table/attribute-table.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../change/rows.ts';
import { type PublishedState } from '../published-state.ts';
import { rulesIdOf } from '../../compile/table/compiled-rules.ts';

const MAGIC = 0x4e454757; // "WGEN"
const FORMAT = 3;
const HEADER_WORDS = 6;
const HEADER_BYTES = HEADER_WORDS * 4;

/** A generation without its rule table. */
export interface GenerationContent {
  readonly version: number;
  readonly rulesId: string;
  readonly attributes: AttributeTable;
  readonly rows: PolicyRows;
  readonly sources: readonly {
    readonly id: number;
    readonly inputKey: string;
    readonly statistics: ListStatistics;
  }[];
  readonly compiledAtMs: number;
  readonly compileMs: number;
  /** As in `CompiledRules`. */
  readonly hasLeftNames?: true;
  /** Replaces the managed domains in `rows`; absent = they are in `rows`. */
  readonly managed?: SharedManaged;
  /** As in `PublishedState`; 0 = unknown. */
  readonly publishedAtMs: number;
}

type Description = Omit<GenerationContent, 'attributes'>;

/**
 * A file of managed domains that several generations share, and the differences between the file and one generation.
 */
export interface SharedManaged {
  /** Name of the file, 16 hexadecimal digits. */
  readonly id: string;
  /** Ids of rows that are in the file, but not in the generation. */
  readonly gone: readonly number[];
  readonly fresh: PolicyRows['managedDomains'];
}

/** Error: a file is incomplete, damaged, or has another format; the message contains the details. */
export class DamagedGeneration extends Error {
  override readonly name = 'DamagedGeneration';
}

/** Encodes a generation; with `managed`, managed domains are written as the difference from a shared file. */
export function encodeGeneration(
  { snapshot, compiled, rows, publishedAtMs = 0 }: PublishedState,
  managed?: SharedManaged,
): Buffer {
  const description = {
    version: snapshot.version,
    rulesId: rulesIdOf(snapshot.rules),
    compiledAtMs: compiled.compiledAtMs,
    compileMs: compiled.compileMs,
    publishedAtMs,
    ...(compiled.hasLeftNames && { hasLeftNames: true as const }),
    ...(managed && { managed }),
  } satisfies Omit<Description, 'rows' | 'sources'>;
  const own = managed === undefined ? rows : { ...rows, managedDomains: [] };
  const parts = [`"rows":${fieldsText(own)}`, `"sources":${arrayText(compiled.sources)}`];
  const json = Buffer.from(`${JSON.stringify(description).slice(0, -1)},${parts.join()}}`);
  const { offsets, pairs, nameCounts } = compiled.attributes;
  const header = new Uint32Array(HEADER_WORDS);
  const sizes = [json.length, offsets.length, pairs.length, nameCounts.length];
  header.set([MAGIC, FORMAT, ...sizes]);
  const sections = [header, json, offsets, pairs, nameCounts];
  const body = Buffer.concat(
    sections.map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength)),
  );
  const trailer = Buffer.alloc(4);
  trailer.writeUInt32LE(crc32(body));
  return Buffer.concat([body, trailer]);
}

/**
 * Cache of the JSON of arrays, because the rows of a table that does not change are the same array in several
 * generations.
 */
const texts = new WeakMap<readonly unknown[], string>();

function arrayText(values: readonly unknown[]): string {
  let text = texts.get(values);
  if (text === undefined) {
    text = JSON.stringify(values);
    texts.set(values, text);
  }
  return text;
}

function fieldsText(rows: PolicyRows): string {
  const fields = Object.entries(rows).map(([name, value]: [string, unknown]) => {
    const text = Array.isArray(value) && value.length > 0 ? arrayText(value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${text}`;
  });
  return `{${fields.join()}}`;
}

/** Encodes a shared file of managed domains: JSON, then its CRC-32. */
export function encodeManaged(rows: PolicyRows['managedDomains']): Buffer {
  const json = Buffer.from(JSON.stringify(rows));
  const trailer = Buffer.alloc(4);
  trailer.writeUInt32LE(crc32(json));
  return Buffer.concat([json, trailer]);
}

/** Reads what `encodeManaged` wrote; throws a DamagedGeneration. */
export function decodeManaged(file: Buffer): PolicyRows['managedDomains'] {
  const end = file.length - 4;
  if (end < 0 || crc32(file.subarray(0, end)) !== file.readUInt32LE(end))
    throw new DamagedGeneration('checksum of the managed domains is wrong');
  return JSON.parse(file.subarray(0, end).toString('utf8')) as PolicyRows['managedDomains'];
}

/** Reads what `encodeGeneration` wrote; throws a DamagedGeneration. */
export function decodeGeneration(file: Buffer): GenerationContent {
  if (file.length < HEADER_BYTES + 4) throw new DamagedGeneration('file is too short');
  const end = file.length - 4;
  const header = Array.from({ length: HEADER_WORDS }, (_, word) => file.readUInt32LE(word * 4));
  const [magic, format, jsonBytes = 0, offsets = 0, pairs = 0, nameCounts = 0] = header;
  if (magic !== MAGIC || format !== FORMAT) throw new DamagedGeneration('file has another format');
  if (HEADER_BYTES + jsonBytes + (offsets + pairs + nameCounts) * 4 !== end)
    throw new DamagedGeneration('length does not match its header');
  if (crc32(file.subarray(0, end)) !== file.readUInt32LE(end))
    throw new DamagedGeneration('checksum is wrong');
  let at = HEADER_BYTES;
  const take = (length: number): Buffer => file.subarray(at, (at += length));
  const description = JSON.parse(take(jsonBytes).toString('utf8')) as Description;
  const words = (count: number): Uint32Array => {
    const bytes = take(count * 4);
    return new Uint32Array(Uint8Array.from(bytes).buffer);
  };
  const attributes = { offsets: words(offsets), pairs: words(pairs), nameCounts: words(nameCounts) };
  // A file from an earlier release lacks kinds of rows that were added later.
  return { ...description, rows: { ...NO_POLICY_ROWS, ...description.rows }, attributes };
}
