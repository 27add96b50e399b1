/** Compares filters of blocks with filtering row by row. */
import { describe, expect, test } from '@jest/globals';
import { rcodeName, rrTypeName } from '../../../shared/dns/iana.ts';
import { DNSSEC_STATUS_NAMES, PROTOCOL_NAMES, QUERY_STATUS_NAMES } from '../../../shared/query-log.ts';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS, inWords, type Words } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { BlockReader } from '../block/block-reader.ts';
import { NameBook } from '../top-lists/name-book.ts';
import { BlockFilter } from './block-filter.ts';
import type { QueryConditions } from './query-conditions.ts';

const HOUR_US = HOUR_MS * 1000;
const EVER = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER };

const span = fc
  .tuple(fc.nat(3_600_000_000), fc.nat(3_600_000_000))
  .map(([a, b]) => ({ fromUs: HOUR_US + Math.min(a, b), toUs: HOUR_US + Math.max(a, b) }));

/** Conditions that some of the rows meet. */
function conditionsOf(rows: readonly Words[], pick: number, mask: number): QueryConditions {
  const { outcome, client, group, name, source } = rows[pick % rows.length]!;
  const all: QueryConditions = {
    type: rrTypeName(outcome[0] as number),
    status: outcome[1] as QueryConditions['status'],
    rcode: rcodeName(outcome[2] as number),
    protocol: outcome[3] as QueryConditions['protocol'],
    dnssec: outcome[4] as QueryConditions['dnssec'],
    upstream: (outcome[6] as string | null) ?? undefined,
    client,
    group_id: group,
    domain: name.slice(0, 3).toUpperCase(),
    block_source: source ?? undefined,
  };
  return Object.fromEntries(Object.entries(all).filter((_, index) => ((mask >>> index) & 1) === 1));
}

function meetsEach(row: Words, conditions: QueryConditions): boolean[] {
  const [type, status, rcode, protocol, dnssec, , upstream] = row.outcome;
  const found: Record<string, unknown> = {
    type: rrTypeName(type as number),
    status,
    rcode: rcodeName(rcode as number),
    protocol,
    dnssec,
    upstream,
    client: row.client,
    group_id: row.group,
    block_source: row.source,
  };
  return Object.entries(conditions)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) =>
      key === 'domain' ? row.name.includes(String(value).toLowerCase()) : found[key] === value,
    );
}

describe('BlockFilter', () => {
  test('finds and counts the same rows as an evaluation row by row', async () => {
    const parts = fc.record({
      rows: fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 30 }),
      wanted: fc.tuple(fc.nat(29), fc.nat(1023)),
      excluded: fc.tuple(fc.nat(29), fc.constantFrom(0, 0, 1, 2, 64, 256, 3, 512, 513)),
      time: fc.option(span, { nil: EVER }),
    });
    await fc.assert(
      fc.asyncProperty(parts, async ({ rows, wanted, excluded, time }) => {
        const words = rows.map(inWords);
        const conditions = conditionsOf(words, ...wanted);
        const not = conditionsOf(words, ...excluded);
        const filter = new BlockFilter({ ...conditions, not });
        const reader = new BlockReader(await blockOf(rows));
        const expected = words.flatMap((row, index) =>
          row.timestampUs >= time.fromUs &&
          row.timestampUs < time.toUs &&
          meetsEach(row, conditions).every(Boolean) &&
          !meetsEach(row, not).some(Boolean)
            ? [index]
            : [],
        );
        expect(filter.rows(reader, time)).toEqual(expected);
        expect(filter.count(reader, time)).toBe(expected.length);
        const known = new NameBook().takeNames(reader.nameCounts())!;
        expect(filter.rows(reader, time, known)).toEqual(expected);
        expect(filter.count(reader, time, known)).toBe(expected.length);
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    [{}, []],
    [{ client: '192.0.2.0/24' }, []],
    [{ status: QUERY_STATUS_NAMES[0], protocol: PROTOCOL_NAMES[0], dnssec: DNSSEC_STATUS_NAMES[0] }, []],
    [{ domain: 'x' }, ['names']],
    [{ client: '192.0.2.0/24', type: 'A' }, ['clientOf', 'outcomeOf']],
    [{ domain: 'x', not: { type: 'A' } }, ['names', 'nameOf', 'outcomeOf']],
    [{ block_source: 'x', status: 'BLOCKED_SERVICE' } as const, ['names', 'nameOf', 'outcomeOf']],
  ])('for the filter %j needs the head of a block and the pieces %j to count rows', (filter, pieces) => {
    expect(new BlockFilter(filter).piecesToCount()).toEqual(pieces);
  });
});
