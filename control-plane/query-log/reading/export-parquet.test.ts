/** Reads the Parquet file of an export with an independent library. */
import { describe, expect, test } from '@jest/globals';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { ParquetExport } from './export-parquet.ts';

const text = fc.oneof(fc.string(), fc.constantFrom('a,"b"\n', '\u0000', 'ü.example', '=1+1'));
const arbitraryRow: fc.Arbitrary<LoggedQuery> = fc.record({
  id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  timestamp: fc.integer({ min: 0, max: Date.UTC(2262, 0) }).map((ms) => new Date(ms).toISOString()),
  node: text,
  client: text,
  client_hostname: fc.option(text),
  client_id: fc.option(fc.integer({ min: 1, max: 0x7fff_ffff })),
  group_id: fc.integer({ min: 1, max: 0x7fff_ffff }),
  domain: text,
  type: fc.constantFrom('A', 'AAAA', 'TYPE65280'),
  protocol: fc.constantFrom('udp', 'tcp'),
  status: fc.constantFrom('CACHED', 'BLOCKED_LIST'),
  block_source: fc.option(text),
  block_rule: fc.option(text),
  rcode: fc.constantFrom('NOERROR', 'NXDOMAIN'),
  response_time_us: fc.integer({ min: 0, max: 0xffff_ffff }),
  cached: fc.boolean(),
  upstream: fc.option(text),
  dnssec_status: fc.constantFrom('secure', 'insecure'),
  answers: fc.option(
    fc.array(fc.record({ name: text, type: text, ttl: fc.nat(), data: text }), { maxLength: 2 }),
  ),
  repeats: fc.nat(),
  block_alias: fc.option(text),
  answer_type: fc.option(text),
  extended_error: fc.option(fc.integer({ min: 0, max: 65_535 })),
  decision_origin: fc.option(fc.constantFrom('managed', 'regex', 'canary')),
});

/** The file for rows that are added in parts, and the number of bytes that each call returned. */
function written(parts: readonly (readonly LoggedQuery[])[]): { file: ArrayBuffer; lengths: number[] } {
  const parquet = new ParquetExport();
  const pieces = parts.map((rows) => parquet.add(rows));
  const bytes = new Uint8Array(Buffer.concat([...pieces, parquet.end()]));
  return { file: bytes.buffer, lengths: pieces.map((piece) => piece.length) };
}

/** Rows of a Parquet file, in the form of the API. */
async function rowsOf(file: ArrayBuffer): Promise<unknown[]> {
  const rows = await parquetReadObjects({ file });
  return rows.map((row) => ({
    ...row,
    id: Number(row['id']),
    timestamp: (row['timestamp'] as Date).toISOString(),
    response_time_us: Number(row['response_time_us']),
    repeats: Number(row['repeats']),
    answers: row['answers'] === null ? null : (JSON.parse(String(row['answers'])) as unknown),
  }));
}

describe('ParquetExport', () => {
  test('writes a file that contains every row and every field', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(arbitraryRow, { maxLength: 20 }), { maxLength: 3 }),
        async (parts) => {
          expect(await rowsOf(written(parts).file)).toEqual(parts.flat());
        },
      ),
      { numRuns: 30 },
    );
  });

  test('returns a row group as soon as it is full', async () => {
    const [row] = fc.sample(arbitraryRow, { numRuns: 1, seed: 3 });
    const part = Array.from({ length: 10_000 }, (_, i) => ({ ...row!, id: i + 1 }));
    const { file, lengths } = written([part, part, part, part, part.slice(0, 1)]);
    const [first, second, third, fourth, last] = lengths;
    expect([first, third, last]).toEqual([4, 0, 0]); // Only the first part has bytes: the magic number at the start.
    expect(Math.min(second!, fourth!)).toBeGreaterThan(0);
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([
      20_000, 20_000, 1,
    ]);
    expect(await rowsOf(file)).toHaveLength(40_001);
  });
});
