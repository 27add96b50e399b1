/** Conversion of log rows to the form of the API. */
import { describe, expect, test } from '@jest/globals';
import { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { rcodeName, rrTypeName } from '../../../shared/dns/iana.ts';
import { arbitraryLogRow } from '../../../test/support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS, inWords } from '../../../test/support/parts/blocks-of-rows.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { type QueryLogRow, UNKNOWN_ANSWER } from '../rows/row.ts';
import { BlockReader } from '../block/block-reader.ts';
import { converterOf } from './logged-queries.ts';

const CONTEXT = {
  nodeOf: (id: number) => `node ${id}`,
};

function outcomeOf({ answerType, extendedError, origin }: QueryLogRow): Partial<LoggedQuery> {
  const isNone = answerType === 0 || answerType === UNKNOWN_ANSWER;
  return {
    answer_type: isNone ? null : rrTypeName(answerType),
    extended_error: extendedError === -1 ? null : extendedError,
    decision_origin: origin,
  };
}

describe('converterOf()', () => {
  test('returns the data of generated rows in the schema of the API', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryLogRow(HOUR_MS), { minLength: 1, maxLength: 20 }), async (rows) => {
        const block = new BlockReader(await blockOf(rows));
        const times = block.times();
        const places = rows.map((_, row) => ({
          block,
          nodeId: 3,
          row,
          timestampUs: times[row]!,
          id: 100 + row,
        }));
        const shown = places.map(converterOf(block, CONTEXT));
        shown.forEach((query, row) => {
          const words = inWords(rows[row]!);
          const [type, status, rcode, protocol, dnssec, cached, upstream] = words.outcome;
          expect(LoggedQuery.parse(query)).toMatchObject({
            id: 100 + row,
            timestamp: new Date(Math.floor(words.timestampUs / 1000)).toISOString(),
            node: 'node 3',
            client: words.client,
            client_hostname: null,
            group_id: words.group,
            domain: words.name,
            type: rrTypeName(type as number),
            protocol,
            status,
            block_source: words.source,
            block_rule: words.rule,
            block_alias: words.alias,
            rcode: rcodeName(rcode as number),
            response_time_us: words.responseTimeUs,
            cached,
            upstream,
            dnssec_status: dnssec,
            ...outcomeOf(rows[row]!),
          });
          if (words.answers !== '') expect(query.answers).not.toBeNull();
          else expect(query.answers).toEqual(rows[row]!.answerType === 0 ? [] : null);
        });
      }),
      { numRuns: 40 },
    );
  });
});
