import { describe, expect, test } from '@jest/globals';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { batchesOf, storedRows } from '../../../test/support/parts/stored-log.ts';
import { NOON, numbersOf, TailedNode, upTo } from '../../../test/support/parts/tailed-node.ts';
import { until } from '../../../test/support/parts/until.ts';
import { Exclusion, QueryStatus } from '../../../shared/query-log.ts';
import { nodeIdOf } from '../../storage/cluster/node-store.ts';
import { serversOn } from '../../storage/db/postgres/postgres-process.ts';
import { BlockGatherer } from '../store/block-gatherer.ts';
import { storeBlock } from '../store/block-store.ts';
import { MergeUpkeep } from '../upkeep/merge-upkeep.ts';
import { MAX_OWN_ROWS } from './own-rows.ts';
import { TailLimit } from './tail-stream.ts';

const node = new TailedNode();

describe('LiveTail', () => {
  test('sends rows of this node before they are stored, as the log shows them, oldest first', async () => {
    const reader = await node.open();
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    });
    await until(
      'the run to be numbered',
      () => node.writer.run.id,
      (now) => now !== null,
    );
    await node.untilListening();
    node.append(0, 20, { answers: Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9) });
    await reader.count(20);
    expect(node.writer.counters().written).toBe(0);
    await node.writer.flush();
    const stored = (await storedRows(node.own.database)).reverse();
    expect(reader.rows).toEqual(stored.map((row) => ({ ...row, client_hostname: 'host 192.0.2.7' })));
    expect(reader.otherLines.filter((line) => line !== ':')).toEqual([
      'retry: 2000',
      ...reader.events.map(({ rows: r }) => `id: ${r.at(-1)!.id}`),
    ]);
    expect(reader.events.every(({ nodes }) => nodes === 'all')).toBe(true);
  });

  test('sends rows of other nodes when they are stored, without duplicates, even if their blocks were merged', async () => {
    const reader = await node.open();
    await until(
      'the run to be numbered',
      () => node.writer.run.id,
      (now) => now !== null,
    );
    node.append(0, 1);
    await reader.count(1);
    await node.writer.flush();
    await node.untilListening();
    const gatherer = new BlockGatherer();
    const nodeId = nodeIdOf('node-b');
    const store = async (from: number, count: number): Promise<void> => {
      const rowsOfB = upTo(from + count, from).map((i) =>
        logRow({ timestampMs: NOON + i, responseTimeUs: i }),
      );
      for (const batch of await batchesOf(rowsOfB, gatherer))
        await storeBlock(node.own.database, batch, { nodeId, durable: true });
    };
    await store(1, 4);
    await reader.count(5);
    const held = Promise.withResolvers<undefined>();
    node.gate = held.promise;
    for (let at = 5; at < 35; at += 2) await store(at, 2);
    expect(
      await new MergeUpkeep({ database: node.own.database, logger: node.own.logger, nodeId }).turn(
        'own-and-ended',
      ),
    ).toBe(1);
    held.resolve(undefined);
    await reader.count(35);
    node.append(35, 1);
    await reader.count(36);
    expect(numbersOf(reader).toSorted((a, b) => a - b)).toEqual(upTo(36));
    expect(reader.skipped).toBe(0);
    expect(reader.rows.map(({ node }) => node)).toEqual([
      'node-a',
      ...upTo(34).map(() => 'node-b'),
      'node-a',
    ]);
    const stored = await storedRows(node.own.database);
    const ids = stored.map(({ id }) => id).concat(reader.rows.at(-1)!.id!);
    expect(reader.rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test('sends no rows that are excluded from the log, and sends rows excluded from statistics once they are stored', async () => {
    const reader = await node.open();
    await node.untilListening();
    node.append(0, 1, { exclusion: Exclusion.LOG });
    node.append(1, 1, { exclusion: Exclusion.STATS });
    node.append(2, 1, { exclusion: Exclusion.BOTH });
    await node.writer.flush();
    await reader.count(1);
    node.append(3, 1);
    await reader.count(2);
    expect(numbersOf(reader)).toEqual([1, 3]);
    expect(reader.skipped).toBe(0);
  });

  test('sends rows of this node while the database is unavailable, and rows of other nodes when it is back', async () => {
    const reader = await node.open();
    node.append(0, 1);
    await reader.count(1);
    for (const pid of serversOn(`${node.own.dataDir}/postgres/cluster`)) process.kill(pid, 'SIGKILL');
    await until(
      'the database to be down',
      () => node.own.database.status(),
      ({ state }) => state === 'down',
    );
    node.append(1, 50);
    await reader.count(51);
    expect(reader.events.at(-1)!.nodes).toBe('own');
    // Needed because earlier notifications are missed.
    await node.untilListening();
    const [batch] = await batchesOf([logRow({ timestampMs: NOON, responseTimeUs: 51 })]);
    await storeBlock(node.own.database, batch!, { nodeId: nodeIdOf('node-b'), durable: true });
    await until(
      'the row of the other node',
      () => numbersOf(reader),
      (seen) => seen.includes(51),
    );
    expect(reader.events.at(-1)!.nodes).toBe('all');
    await node.writer.flush();
    node.append(52, 1);
    await reader.count(53);
    expect(numbersOf(reader)).toEqual(upTo(53));
  });

  test('sends rows without an ID before the database has given the run of the node an ID', async () => {
    const numbered = Promise.withResolvers<undefined>();
    node.gate = numbered.promise;
    const reader = await node.open();
    node.append(0, 1);
    await reader.count(1);
    numbered.resolve(undefined);
    await until(
      'the run to be numbered',
      () => node.writer.run.id,
      (now) => now !== null,
    );
    node.append(1, 1);
    await reader.count(2);
    expect(reader.rows.map(({ id }) => id)).toEqual([null, node.writer.run.id! * 2 ** 32 + 1]);
    expect(reader.otherLines.filter((line) => line.startsWith('id'))).toHaveLength(1);
  });

  test('sends only the newest rows of a flood, and how many more matched', async () => {
    const [all, some] = await Promise.all([node.open(), node.open('status=BLOCKED_LIST')]);
    node.append(0, 1000);
    node.append(1000, 20, { status: QueryStatus.BLOCKED_LIST });
    node.append(1020, 2000);
    await Promise.all([all.count(3020), some.count(20)]);
    expect(all.events[0]).toMatchObject({ skipped: 3020 - TailLimit.BURST_ROWS });
    expect(numbersOf(all)).toEqual(upTo(3020, 3020 - TailLimit.BURST_ROWS));
    expect([numbersOf(some), some.skipped]).toEqual([upTo(1020, 1000), 0]);
  });

  test('counts rows beyond the limit per interval without sending them', async () => {
    const [all, some] = await Promise.all([node.open(), node.open('status=BLOCKED_LIST')]);
    node.append(0, MAX_OWN_ROWS);
    node.append(MAX_OWN_ROWS, 7, { status: QueryStatus.BLOCKED_LIST });
    await Promise.all([all.count(MAX_OWN_ROWS + 7), some.count(7)]);
    expect([numbersOf(all).at(-1), some.rows, some.skipped]).toEqual([MAX_OWN_ROWS - 1, [], 7]);
    node.append(MAX_OWN_ROWS + 7, 1, { status: QueryStatus.BLOCKED_LIST });
    await some.count(8);
    expect(numbersOf(some)).toEqual([MAX_OWN_ROWS + 7]);
  });

  test('keeps a limited number of rows for a slow reader, and continues with the newest rows', async () => {
    const [slow, quick] = await Promise.all([node.open(), node.open()]);
    slow.response.pause();
    // Stores more rows than fit into all socket buffers on the way.
    let end = 0;
    for (; end < 30_000; end += 200) {
      node.append(end, 200, { upstream: `https://${'x'.repeat(200)}.example/dns-query` });
      await quick.count(end + 200);
    }
    expect(slow.rows.length).toBe(0);
    slow.response.resume();
    await slow.count(end);
    expect(slow.skipped).toBeGreaterThan(1000);
    expect(numbersOf(slow).at(-1)).toBe(end - 1);
    expect(slow.rows.length + slow.skipped).toBe(end);
    expect(quick.rows.length + quick.skipped).toBe(end);
  });

  test('keeps hostile names within one line', async () => {
    const reader = await node.open();
    const labels = ['a\r\n\r\ndata: {}', '\0"\\\u2028', '\xff\x85'];
    for (const [i, label] of labels.entries()) {
      const bytes = Buffer.from(label);
      node.append(i, 1, {
        qname: Buffer.concat([Buffer.of(bytes.length), bytes, Buffer.of(0)]),
        blockSource: `list\n\nevent: x\r${label}`,
        status: QueryStatus.BLOCKED_LIST,
      });
    }
    await reader.count(3);
    await node.writer.flush();
    const stored = (await storedRows(node.own.database)).reverse();
    expect(reader.rows.map((row) => [row.domain, row.block_source])).toEqual(
      stored.map((row) => [row.domain, row.block_source]),
    );
    expect(reader.rows[0]!.domain).toContain('\\010');
  });

  test('sends only the fields that the privacy level allows, and no rows if none are stored', async () => {
    const reader = await node.open();
    const answers = Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9);
    for (const [i, setting] of (['off', 'no_answers', 'anonymous_clients', 'full'] as const).entries()) {
      node.privacy = setting;
      node.append(i, 1, { answers });
    }
    await reader.count(3);
    const shown = reader.rows.map((row) => [row.response_time_us, row.client, row.answers?.length ?? 0]);
    expect(shown).toEqual([
      [1, '192.0.2.7', 0],
      [2, '192.0.2.0', 1],
      [3, '192.0.2.7', 1],
    ]);
  });

  test('continues when the clock steps back, and after lost rows', async () => {
    const reader = await node.open();
    await until(
      'the run to be numbered',
      () => node.writer.run.id,
      (now) => now !== null,
    );
    const HOUR = 3_600_000;
    for (const [i, hours] of [0, -1, -5, 3, 0].entries())
      node.append(i, 1, { timestampMs: NOON + hours * HOUR });
    node.writer.lose(7);
    node.append(5, 1);
    await reader.count(6);
    expect(numbersOf(reader)).toEqual(upTo(6));
    await node.writer.flush();
    const stored = await storedRows(node.own.database);
    const idOf = (i: number): unknown => stored.find((row) => row.response_time_us === i)!.id;
    expect(reader.rows.map(({ id }) => id)).toEqual(upTo(6).map(idOf));
  });
});
