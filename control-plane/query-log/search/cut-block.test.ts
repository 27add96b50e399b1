import { describe, expect, test } from '@jest/globals';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { encodeBlock, sealBlock } from '../block/block-encoder.ts';
import { BlockReader } from '../block/block-reader.ts';
import { forEachRepeat, forEachRow } from '../block/block-rows.ts';
import type { EncodedBlock } from '../block/block-layout.ts';
import { OpenBlock } from '../block/open-block.ts';
import { type ClearScope, cutBlock, mayTake, takesAll } from './cut-block.ts';

const AT_MS = Date.UTC(2026, 6, 5, 12);
const KEPT = { ipv4Bytes: 4, ipv6Bytes: 16, answers: true, clientIds: true };
const ALWAYS: ClearScope = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, device: null };

/** A query of client 192.0.2.x for nN.test, N milliseconds after the hour; with `key`, it has the client's id. */
interface TestQuery {
  readonly n: number;
  readonly x: number;
  readonly clientId?: number;
}

async function blockOf(asked: readonly TestQuery[], repeats: readonly { row: number; x: number }[] = []) {
  const open = new OpenBlock();
  for (const { n, x, clientId = 0 } of asked) {
    const client = Uint8Array.of(192, 0, 2, x);
    const qname = wireName(`n${n}.test`);
    const answers = Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, n, 0, 4, 192, 0, 2, n);
    open.add(
      logRow({ timestampMs: AT_MS + n, client, qname, clientId, answers, responseTimeUs: n }),
      (AT_MS + n) * 1000,
      KEPT,
    );
  }
  for (const { row, x } of repeats) {
    const client = Uint8Array.of(192, 0, 2, x);
    open.addRepeat(logRow({ client, status: QueryStatus.RATE_LIMITED }), row, KEPT);
  }
  return encodeBlock(sealBlock(open));
}

/** All values in a block, as text. */
function inWords(block: EncodedBlock): unknown {
  const rows: unknown[] = [];
  const reader = new BlockReader(block);
  forEachRow(reader, (row, us) => {
    const { timestampMs: _, bytes, ...others } = row;
    const end = row.answers.at + row.answers.length;
    rows.push(structuredClone({ ...others, us, bytes: Buffer.from(bytes.subarray(0, end)).toString('hex') }));
  });
  const repeats: unknown[] = [];
  forEachRepeat(reader.head, (row, client, queries) => repeats.push([row, client.address[15], queries]));
  return { rows, repeats };
}

const cut = async (block: EncodedBlock, ...scopes: readonly ClearScope[]) =>
  cutBlock(new BlockReader(block), scopes);

describe('cutBlock()', () => {
  const ASKED: readonly TestQuery[] = Array.from({ length: 40 }, (_, n) => ({ n, x: n % 5 }));

  test('leaves the rows of all other clients unchanged', async () => {
    const device = { ids: [9], addresses: ['192.0.2.3', '192.0.2.4'] };
    const left = (await cut(await blockOf(ASKED), { ...ALWAYS, device }))!;
    const others = ASKED.filter(({ x }) => x !== 3 && x !== 4);
    expect(inWords(left.kept!)).toEqual(inWords(await blockOf(others)));
    expect(left).toMatchObject({ isPrefix: false, removed: { rows: 16, firstUs: (AT_MS + 3) * 1000 } });
    expect(left.removed.lastUs).toBe((AT_MS + 39) * 1000);
  });

  test('separates a client with an ID from other clients at the same address', async () => {
    const asked = [{ n: 1, x: 7 }, { n: 2, x: 7, clientId: 9 }, { n: 3, x: 8, clientId: 9 }]; // prettier-ignore
    const device = { ids: [9], addresses: ['192.0.2.1'] };
    const left = (await cut(await blockOf(asked), { ...ALWAYS, device }))!;
    expect(inWords(left.kept!)).toEqual(inWords(await blockOf([{ n: 1, x: 7 }])));
  });

  test('removes a period including its start but not its end, and reports whether the first rows were removed', async () => {
    const span = { ...ALWAYS, fromUs: (AT_MS - 5) * 1000, toUs: (AT_MS + 10) * 1000 };
    const left = (await cut(await blockOf(ASKED), span))!;
    expect(inWords(left.kept!)).toEqual(inWords(await blockOf(ASKED.slice(10))));
    expect(left).toMatchObject({ isPrefix: true, removed: { rows: 10 } });
  });

  test('keeps no block if all rows are removed, and returns null if no row is removed', async () => {
    const block = await blockOf(ASKED);
    expect(await cut(block, ALWAYS)).toMatchObject({ kept: null, removed: { rows: 40 } });
    expect(await cut(block, { ...ALWAYS, device: { ids: [9], addresses: ['192.0.2.99'] } })).toBeNull();
    expect(await cut(block, { ...ALWAYS, fromUs: (AT_MS + 40) * 1000 })).toBeNull();
  });

  test('removes limited queries of the client, and limited queries that belong to a removed row', async () => {
    const asked = [{ n: 1, x: 1 }, { n: 2, x: 2 }, { n: 3, x: 3 }]; // prettier-ignore
    const repeats = [{ row: 0, x: 5 }, { row: 1, x: 1 }, { row: 1, x: 5 }, { row: 2, x: 5 }]; // prettier-ignore
    const left = (await cut(await blockOf(asked, repeats), { ...ALWAYS, device: { ids: [9], addresses: ['192.0.2.1'] } }))!; // prettier-ignore
    expect(inWords(left.kept!)).toMatchObject({ repeats: [[0, 5, 1], [1, 5, 1]] }); // prettier-ignore
    expect(left.removed.rows).toBe(1);
  });

  test('combines several deletions', async () => {
    const scopes = [1, 2].map((x) => ({ ...ALWAYS, device: { ids: [9], addresses: [`192.0.2.${x}`] } }));
    const left = (await cut(await blockOf(ASKED), ...scopes))!;
    expect(left.removed.rows).toBe(16);
  });
});

test('takesAll() and mayTake() decide from the period and the head whether a deletion affects a block', async () => {
  const block = await blockOf([{ n: 1, x: 1 }, { n: 2, x: 2 }]); // prettier-ignore
  const device = { ids: [9], addresses: ['192.0.2.9'] };
  expect(takesAll(ALWAYS, block)).toBe(true);
  expect(takesAll({ ...ALWAYS, toUs: (AT_MS + 2) * 1000 }, block)).toBe(false);
  expect(takesAll({ ...ALWAYS, device }, block)).toBe(false);
  expect(mayTake(ALWAYS, new BlockReader(block))).toBe(true);
  expect(mayTake({ ...ALWAYS, device }, new BlockReader(block))).toBe(false);
});
