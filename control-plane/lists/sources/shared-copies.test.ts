import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import {
  blocklist,
  kindsOf,
  type ListNode,
  type RunningLists,
} from '../../../test/support/parts/running-lists.ts';
import { until } from '../../../test/support/parts/until.ts';
import { listRevisions } from '../../policy/change/revision-store.ts';
import { readSource } from './source-store.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

/** Makes a node apply the changes of other nodes. */
async function follow(node: ListNode): Promise<void> {
  node.life.checkSoon();
  await node.life.idle();
}

/** Two nodes, each with its own directory, and a list that both have. */
async function twoWith(text: string) {
  const [one, two] = [await running.startNode(), await running.startOther()];
  const { id } = await one.life.create(blocklist(running.serve('/a', text, '"1"')));
  await one.life.idle();
  // Either node may have fetched the list; the other one then follows.
  for (const node of [two, one]) await follow(node);
  return { one, two, id };
}

const blobs = async (): Promise<string[]> =>
  (await running.database.query<{ key: string }>('SELECT DISTINCT content_key AS key FROM blobs')).rows.map(
    ({ key }) => key,
  );
const TEN = Array.from({ length: 10 }, (_, index) => `n${index}.example\n`).join('');

describe('lists of a cluster', () => {
  test('are fetched once, by any node, and become active on all nodes', async () => {
    const { one, two, id } = await twoWith('a.example\n');
    expect([kindsOf(one, 'a.example'), kindsOf(two, 'a.example')]).toEqual([1, 1]);
    await running.database.query(
      `UPDATE list_sources SET last_checked_at = last_checked_at - interval '1 day'`,
    );
    running.serve('/a', 'b.example\n', '"2"');
    await Promise.all([one.life.refreshDue(), two.life.refreshDue()]);
    await running.idle();
    for (const node of [one, two]) await follow(node);
    expect([kindsOf(one, 'b.example'), kindsOf(two, 'b.example')]).toEqual([1, 1]);
    expect(running.asked()).toEqual(['/a', '/a']);
    // A third node needs no server at all.
    running.serveNothing();
    const three = await running.startOther();
    await three.life.idle();
    expect([kindsOf(three, 'b.example'), running.asked()]).toEqual([1, []]);
    await one.life.remove(id);
    await follow(two);
    expect([kindsOf(two, 'b.example'), two.cache.ids()]).toEqual([0, []]);
  });

  test('have the content that the database row names, even if a node returns with an older copy', async () => {
    const { one, two, id } = await twoWith('a.example\n');
    await one.stop();
    running.serve('/a', 'b.example\n', '"2"');
    await two.life.refresh(id);
    await two.life.idle();
    const { contentKey } = await readSource(running.database, id);
    const back = await running.startNode();
    await back.life.idle();
    expect(kindsOf(back, 'b.example')).toBe(1);
    expect((await readSource(running.database, id)).contentKey).toBe(contentKey);
    // If the blob is missing, the node does not change the row, and the list is fetched.
    await back.stop();
    running.serve('/a', 'c.example\n', '"3"');
    await asOwner(running.database, 'TRUNCATE blobs');
    await running.database.query(`UPDATE list_sources SET content_key = repeat('f', 32)`);
    const again = await running.startNode();
    await again.life.idle();
    expect([kindsOf(again, 'b.example'), kindsOf(again, 'c.example')]).toEqual([0, 1]);
  });

  test('can be approved and rolled back at any node', async () => {
    const { one, two, id } = await twoWith(TEN);
    const [{ id: before }] = (await listRevisions(running.database)) as [Revision];
    running.serve('/a', 'n0.example\n', '"2"');
    await one.life.refresh(id);
    await one.life.idle();
    await follow(two);
    expect(await two.life.read(id)).toMatchObject({ status: 'held', rules: 10 });
    expect(await two.life.approve(id)).toMatchObject({ status: 'ok', rules: 1 });
    await follow(one);
    expect([kindsOf(one, 'n1.example'), kindsOf(two, 'n1.example')]).toEqual([0, 0]);
    // A node that never had the first copy also uses it after the rollback.
    const three = await running.startOther();
    await running.goBack(three, before);
    await three.life.idle();
    await follow(one);
    expect([kindsOf(one, 'n1.example'), kindsOf(three, 'n1.example')]).toEqual([1, 1]);
    expect(running.asked()).toEqual(['/a', '/a']);
  });

  test('are not stored by a node that was suspended in the middle of a fetch', async () => {
    const [stopped, other] = [await running.startNode(), await running.startOther()];
    const answers: (() => void)[] = [];
    const url = running.serveBy(
      '/a',
      (_request, response) => void answers.push(() => response.end('old.example\n')),
    );
    const { id } = await stopped.life.create(blocklist(url));
    await until(
      'the list to be asked for',
      () => answers.length,
      (count) => count === 1,
    );
    await other.life.refreshDue();
    await other.life.idle();
    expect(answers).toHaveLength(1);
    running.serve('/a', 'new.example\n');
    // The lease of the first node expires, possibly after one more renewal that was already being sent.
    await until(
      'the other node to fetch the list',
      async () => {
        await running.database.query(`UPDATE leases SET until = clock_timestamp() - interval '1 second'`);
        await other.life.refreshDue();
        await other.life.idle();
        return kindsOf(other, 'new.example');
      },
      (kinds) => kinds === 1,
    );
    const row = await readSource(running.database, id);
    answers[0]!();
    await stopped.life.idle();
    expect(await readSource(running.database, id)).toEqual(row);
    expect(stopped.logger.text()).toContain('another node has taken over a job');
    await follow(stopped);
    expect([kindsOf(stopped, 'old.example'), kindsOf(stopped, 'new.example')]).toEqual([0, 1]);
  });

  test('with file: URLs become active on all nodes if one node can read the file', async () => {
    running.listDirs = [running.dataDir];
    const file = join(running.dataDir, 'own.txt');
    await writeFile(file, 'own.example\n');
    const [one, two] = [await running.startNode(), await running.startOther({ listDirs: [] })];
    const { id } = await one.life.create(blocklist(pathToFileURL(file).href));
    await until(
      'the other node to have the list',
      async () => {
        await running.idle();
        await follow(two);
        return kindsOf(two, 'own.example');
      },
      (kinds) => kinds === 1,
    );
    two.clock.ms += 86_400_000;
    await two.life.refreshDue();
    await two.life.idle();
    expect(await two.life.read(id)).toMatchObject({ status: 'ok' });
    // If no node with the file refreshes the list in time, the source reports the fault.
    two.clock.ms += 120_000;
    await two.life.refreshDue();
    await two.life.idle();
    expect(await two.life.read(id)).toMatchObject({
      status: 'error',
      last_error: expect.stringContaining('own.txt'),
    });
    expect([kindsOf(one, 'own.example'), kindsOf(two, 'own.example')]).toEqual([1, 1]);
  });

  test('that one node cannot compile stay unchanged on that node only', async () => {
    const { one, two, id } = await twoWith('a.example\n');
    await two.pool.close();
    running.serve('/a', 'a.example\nb.example\n', '"2"');
    await one.life.refresh(id);
    await one.life.idle();
    await follow(two);
    expect([kindsOf(one, 'b.example'), kindsOf(two, 'b.example'), kindsOf(two, 'a.example')]).toEqual([
      1, 0, 1,
    ]);
    expect(await one.life.read(id)).toMatchObject({ status: 'ok', rules: 2 });
  });

  test('with file: URLs are read by one node while it has the file, even if another file has this path elsewhere', async () => {
    const { database } = running;
    running.listDirs = [running.dataDir];
    const [one, two] = [await running.startNode(), await running.startOther()];
    const without = await running.startOther({ listDirs: [] });
    // Waits until the first check of the nodes for due lists has ended.
    await running.idle();
    const file = join(running.dataDir, 'own.txt');
    await writeFile(file, 'a.example\n');
    const { id } = await one.life.create(blocklist(pathToFileURL(file).href));
    await one.life.idle();
    expect(await one.life.read(id)).toMatchObject({ status: 'ok', file_node: 'node-a' });
    const exists = `INSERT INTO nodes (id, name, run, last_seen) VALUES (1, 'node-a', gen_random_uuid(), now())`;
    await database.query(exists);
    // Changes the file, as if another file were at this path on the other nodes.
    await writeFile(file, 'b.example\n');
    await database.query(`UPDATE list_sources SET last_checked_at = last_checked_at - interval '2 days'`);
    for (const node of [two, without]) {
      await node.life.refreshDue();
      await follow(node);
      expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 0]);
      // A request at another node is left to the node that has the file.
      await node.life.refresh(id);
      await node.life.idle();
      expect(await node.life.read(id)).toMatchObject({ status: 'pending', last_error: null });
    }
    await one.life.refreshDue();
    await running.idle();
    await follow(two);
    expect([kindsOf(two, 'a.example'), kindsOf(two, 'b.example')]).toEqual([0, 1]);
    await database.query('UPDATE nodes SET run = NULL');
    await writeFile(file, 'c.example\n');
    await database.query(`UPDATE list_sources SET last_checked_at = last_checked_at - interval '2 days'`);
    await two.life.refreshDue();
    await running.idle();
    expect([kindsOf(two, 'c.example'), (await two.life.read(id)).file_node]).toEqual([1, 'node-b']);
    await database.query('DELETE FROM nodes');
  });
});

describe('SharedCopies', () => {
  test('giveMissing() stores copies that the database has lost, without fetching the lists again', async () => {
    const node = await running.startNode();
    await addList(node, running.serve('/a', 'a.example\n'));
    const stored = await blobs();
    await node.stop();
    await asOwner(running.database, 'TRUNCATE blobs');
    await (await running.startNode()).life.idle();
    expect([await blobs(), running.asked()]).toEqual([stored, ['/a']]);
  });

  test('bring() logs a damaged blob, and fetches the list again', async () => {
    const node = await running.startNode();
    await addList(node, running.serve('/a', 'a.example\n'));
    await running.database.query(`UPDATE blobs SET bytes = '\\x00'`);
    const other = await running.startOther();
    await other.life.idle();
    expect(other.logger.text()).toContain('could not copy a list from the database; fetching it again');
    expect([kindsOf(other, 'a.example'), running.asked()]).toEqual([1, ['/a', '/a']]);
    expect(await blobs()).toHaveLength(1);
  });

  test('blobs are deleted when no list and no stored change of a user needs them', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n'));
    const before = await blobs();
    await node.life.update(id, { name: 'renamed' });
    running.serve('/a', 'b.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect(await blobs()).toEqual(expect.arrayContaining(before));
    await running.database.query('DELETE FROM policy_changes');
    running.serve('/a', 'c.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect(await blobs()).not.toEqual(expect.arrayContaining(before));
  });
});
