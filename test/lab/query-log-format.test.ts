/**
 * A block parsed in another language: the parser in `deploy/query-log-format.md`, run by Python.
 *
 * @needs python3-numpy python3-zstandard
 */
import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EncodedBlock } from '../../control-plane/query-log/block/block-layout.ts';
import { blockFromBytes } from '../../control-plane/query-log/block/log-block.ts';
import { BlockGatherer, toBatch } from '../../control-plane/query-log/store/block-gatherer.ts';
import { arbitraryLogRow } from '../support/parts/arbitrary-log-row.ts';
import { blockOf, HOUR_MS, inWords } from '../support/parts/blocks-of-rows.ts';
import fc from '../support/parts/fast-check.ts';
import { PYTHON } from '../support/parts/programs.ts';
import { arbitraryFloodQuery, floodRow, PREFIXES, rowsExpected } from '../support/parts/flood-rows.ts';

const PAPER = readFileSync(join(import.meta.dirname, '../../deploy/query-log-format.md'), 'utf8');
const READER = /```python\n(.*?)```/s.exec(PAPER)![1]!;

/** Reads a block from standard input and writes its queries. */
const PROGRAM = `${READER}
import sys
block = {k: bytes.fromhex(v) if isinstance(v, str) else v for k, v in json.load(sys.stdin).items()}
json.dump(list(queries(block)), sys.stdout)
`;

function readByPython({ lengths, head, names, queries }: EncodedBlock): unknown {
  const pieces = {
    head: head.toString('hex'),
    names: names.toString('hex'),
    queries: queries.toString('hex'),
  };
  const run = spawnSync(PYTHON, ['-c', PROGRAM], { input: JSON.stringify({ ...pieces, lengths }) });
  expect(run.stderr.toString()).toBe('');
  return JSON.parse(run.stdout.toString());
}

describe('a reader of the format in deploy/query-log-format.md', () => {
  test('finds the queries of a block of the query log', async () => {
    const rows = fc.sample(arbitraryLogRow(HOUR_MS), { numRuns: 500, seed: 4 });
    const expected = rows
      .map(inWords)
      .map(({ timestampUs, name, client, group, outcome, responseTimeUs }) => [
        timestampUs,
        name,
        client,
        group,
        ...outcome,
        responseTimeUs,
      ]);
    expect(readByPython(await blockOf(rows))).toEqual(expected);
  });

  test('finds the rows of a block in which rows count several queries', async () => {
    const gatherer = new BlockGatherer(() => PREFIXES);
    const queries = fc.sample(arbitraryFloodQuery(HOUR_MS, 100), { numRuns: 50, seed: 4 });
    for (const query of queries) gatherer.append(floodRow(query), 'full');
    const { bytes } = await toBatch(gatherer.runKey, gatherer.seal()!);
    const block = blockFromBytes(bytes);
    expect(block.repeats).toBeGreaterThan(0);
    expect(readByPython(block)).toHaveLength(rowsExpected(queries));
  });
});
