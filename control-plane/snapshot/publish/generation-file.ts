/**
 * One generation as bytes: attributes, and the rows and sources that a snapshot is built of. The rule table, with the
 * special rules after it, is a file of its own that generations share, named by its identity. Little-endian:
 *
 *   u32 x 8   magic, format, bytes of JSON, bytes of policy, attribute offsets, pairs, name counts, 0
 *   bytes     JSON, policy (nothing; in older files a table that is skipped), then the three
 *             attribute arrays (u32 each)
 *   u32       CRC-32 of everything before it
 */
import { crc32 } from 'node:zlib';
import type { ListStatistics } from '../../compile/parse/list-statistics.ts';
import type { AttributeTable } from '../../compile/table/attribute-table.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../policy/rows.ts';
import { type PublishedState } from '../published-state.ts';
import { rulesIdOf } from '../../compile/table/compiled-rules.ts';

const MAGIC = 0x4e454757; // "WGEN"
const FORMAT = 2;
const HEADER_WORDS = 8;
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
  /** Of `PublishedState`; 0 = unknown, as in older files. */
  readonly publishedAtMs: number;
}

type Description = Omit<GenerationContent, 'attributes'>;

/** A file is torn, damaged, or of another format; the message says which. */
export class DamagedGeneration extends Error {
  override readonly name = 'DamagedGeneration';
}

/** The bytes of a generation. */
export function encodeGeneration({ snapshot, compiled, rows, publishedAtMs = 0 }: PublishedState): Buffer {
  const description: Description = {
    version: snapshot.version,
    rulesId: rulesIdOf(snapshot.rules),
    rows,
    sources: compiled.sources,
    compiledAtMs: compiled.compiledAtMs,
    compileMs: compiled.compileMs,
    publishedAtMs,
  };
  const json = Buffer.from(JSON.stringify(description));
  const { offsets, pairs, nameCounts } = compiled.attributes;
  const header = new Uint32Array(HEADER_WORDS);
  const sizes = [json.length, 0, offsets.length, pairs.length, nameCounts.length];
  header.set([MAGIC, FORMAT, ...sizes]);
  const parts = [header, json, offsets, pairs, nameCounts];
  const body = Buffer.concat(
    parts.map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength)),
  );
  const trailer = Buffer.alloc(4);
  trailer.writeUInt32LE(crc32(body));
  return Buffer.concat([body, trailer]);
}

/** Reads what `encodeGeneration` wrote; throws a DamagedGeneration. */
export function decodeGeneration(file: Buffer): GenerationContent {
  if (file.length < HEADER_BYTES + 4) throw new DamagedGeneration('file is too short');
  const end = file.length - 4;
  const header = Array.from({ length: HEADER_WORDS }, (_, word) => file.readUInt32LE(word * 4));
  const [magic, format, jsonBytes = 0, policyBytes = 0, offsets = 0, pairs = 0, nameCounts = 0] = header;
  if (magic !== MAGIC || format !== FORMAT) throw new DamagedGeneration('file is of another format');
  if (HEADER_BYTES + jsonBytes + policyBytes + (offsets + pairs + nameCounts) * 4 !== end)
    throw new DamagedGeneration('length does not fit its header');
  if (crc32(file.subarray(0, end)) !== file.readUInt32LE(end))
    throw new DamagedGeneration('checksum is wrong');
  let at = HEADER_BYTES;
  const take = (length: number): Buffer => file.subarray(at, (at += length));
  const description = JSON.parse(take(jsonBytes).toString('utf8')) as Description;
  take(policyBytes);
  const words = (count: number): Uint32Array => {
    const bytes = take(count * 4);
    return new Uint32Array(Uint8Array.from(bytes).buffer);
  };
  const attributes = { offsets: words(offsets), pairs: words(pairs), nameCounts: words(nameCounts) };
  // Older files lack newer kinds of rows.
  const rows = { ...NO_POLICY_ROWS, ...description.rows };
  const { publishedAtMs = 0 } = description as Partial<Description>;
  return { ...description, publishedAtMs, rows, attributes };
}
