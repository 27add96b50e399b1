import { describe, expect, test } from '@jest/globals';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import { countOf, kindsOf, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { listRevisions } from '../../policy/change/revision-store.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

describe('ListsInForce', () => {
  test('a compile that dies leaves the rules before in force and is the last error of its source', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n'));
    await node.pool.close();
    running.serve('/a', 'b.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 0]);
    expect(await node.life.read(id)).toMatchObject({
      status: 'error',
      last_error: expect.stringMatching(/lists: /),
    });
    // What needs no compile is in force all the same, and what does says why it is not.
    await node.life.update(id, { enabled: false });
    expect(kindsOf(node, 'a.example')).toBe(0);
    expect(await node.life.update(id, { enabled: true, subdomains: true })).toMatchObject({
      status: 'error',
    });
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('a rollback restores the earlier list without a compile, and holds the copy it undid', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'good.example\n', '"1"'));
    const [{ id: good }] = (await listRevisions(running.database)) as [Revision];
    running.serve('/a', 'good.example\nbad.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    await node.publisher.settled();
    expect(kindsOf(node, 'bad.example')).toBe(1);
    const compiles = countOf(node, 'lists compiled');

    await running.goBack(node, good);
    await node.life.idle();
    expect([kindsOf(node, 'good.example'), kindsOf(node, 'bad.example')]).toEqual([1, 0]);
    expect(countOf(node, 'lists compiled')).toBe(compiles);
    expect(await node.life.read(id)).toMatchObject({
      status: 'held',
      rules: 1,
      last_error: `held: undone by going back to revision ${good}`,
    });
    // The same bad copy does not come back by itself, after a restart neither; a newer one does.
    await node.life.refresh(id);
    await node.life.idle();
    await node.stop();
    const second = await running.startNode();
    await second.life.idle();
    expect([kindsOf(second, 'bad.example'), (await second.life.read(id)).status]).toEqual([0, 'held']);
    running.serve('/a', 'good.example\nnew.example\n', '"3"');
    await second.life.refresh(id);
    await second.life.idle();
    expect([kindsOf(second, 'new.example'), (await second.life.read(id)).status]).toEqual([1, 'ok']);
  });

  test('a rollback brings back a list that was deleted', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n'));
    const [{ id: good }] = (await listRevisions(running.database)) as [Revision];
    await node.life.remove(id);
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(0);
    await running.goBack(node, good);
    expect(kindsOf(node, 'a.example')).toBe(1);
    expect((await listRevisions(running.database)).map(({ summary }) => summary).slice(0, 3)).toEqual([
      `rolled back to revision ${good}`,
      'blocklist ads: deleted',
      'blocklist ads: updated, 1 rules',
    ]);
  });
});
