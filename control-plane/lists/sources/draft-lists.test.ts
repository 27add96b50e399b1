import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../shared/clock.ts';
import { SimulateBody } from '../../../shared/api/policy/simulate-api.ts';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import { blocklist, type ListNode, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { DraftLists, type DraftedLists } from './draft-lists.ts';

const ever = new AbortController().signal;
let running: RunningLists;

serveLists((opened) => (running = opened));

function make(node: ListNode, lists: object): Promise<DraftedLists> {
  const drafts = new DraftLists({
    database: running.database,
    cache: node.cache,
    copies: node.copies,
    pool: node.pool,
    current: () => node.publisher.current(),
    listDirs: () => [],
    bounds: { localDomain: () => '', ownPorts: () => new Set() },
    clock: systemClock,
  });
  return drafts.make(SimulateBody.parse({ lists }).lists, ever);
}

describe('DraftLists.make()', () => {
  test('compiles lists of the draft together with active lists, and leaves no files behind', async () => {
    const node = await running.startNode();
    const { id } = await node.life.create(blocklist(running.serve('/a', 'a.example\n')));
    const off = await node.life.create(blocklist(running.serve('/b', 'b.example\nc.example\n')));
    await node.life.idle();
    await node.life.update(off.id, { enabled: false });
    const copies = running.copies();
    const { current } = { current: node.publisher.current() };
    const made = await make(node, { add: [{ source_id: off.id }, { text: 'd.example' }] });
    expect(made.base).toBe(current);
    expect(made.added).toMatchObject([
      { name: 'ads', rules: 2 },
      { name: 'draft', rules: 1 },
    ]);
    expect(made.sources.map(({ id: one, enabled }) => [one, enabled])).toEqual([
      [id, true],
      [off.id, true],
      [-2, true],
    ]);
    expect(made.compiled.sources.map(({ id: one }) => one)).toEqual([id, off.id, -2]);
    expect(running.copies()).toEqual(copies);
    expect(node.publisher.current()).toBe(current);
  });

  test('uses the held update of a list as if it were approved', async () => {
    const node = await running.startNode();
    const text = Array.from({ length: 10 }, (_, i) => `n${i}.example\n`).join('');
    const id = await addList(node, running.serve('/a', text));
    running.serve('/a', 'n1.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect((await node.life.read(id)).status).toBe('held');
    const made = await make(node, { add: [{ source_id: id }] });
    expect(made.added).toMatchObject([{ rules: 1 }]);
    expect(made.compiled.sources.map(({ id: one }) => one)).toEqual([id]);
  });

  test('compiles nothing if the draft only removes lists', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n'));
    const made = await make(node, { drop: [id] });
    expect([made.compiled, made.sources]).toEqual([node.publisher.current().compiled, []]);
  });

  test('refuses a list that was never fetched, and content that is not a list', async () => {
    const node = await running.startNode();
    const { id } = await node.life.create(blocklist(running.urlOf('/missing'), { enabled: false }));
    for (const [list, path] of [
      [{ source_id: id }, 'lists.add.0.source_id'],
      [{ url: running.urlOf('/missing') }, 'lists.add.0.url'],
      [{ text: '<html><body></body></html>' }, 'lists.add.0'],
    ] as const)
      await expect(make(node, { add: [list] })).rejects.toMatchObject({ status: 400, fields: [{ path }] });
  });
});
