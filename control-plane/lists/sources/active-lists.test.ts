import { describe, expect, test } from '@jest/globals';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import { countOf, kindsOf, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { listRevisions } from '../../policy/change/revision-store.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

describe('ActiveLists', () => {
  test('keeps the previous rules after a compilation dies, and reports that as the last error of the list', async () => {
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
    // A change that needs no compilation is active nevertheless; a change that needs one reports why it is not active.
    await node.life.update(id, { enabled: false });
    expect(kindsOf(node, 'a.example')).toBe(0);
    expect(await node.life.update(id, { enabled: true, subdomains: true })).toMatchObject({
      status: 'error',
    });
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('keeps list updates that were fetched after the revision to which a rollback returns', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n', '"1"'));
    const [{ id: good, is_own: isOwn }] = (await listRevisions(running.database)) as [Revision];
    await node.life.update(id, { name: 'renamed' });
    running.serve('/a', 'a.example\nb.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    await running.goBack(node, good);
    await node.life.idle();
    expect([isOwn, kindsOf(node, 'b.example')]).toEqual([true, 1]);
    expect(await node.life.read(id)).toMatchObject({ name: 'ads', status: 'ok', rules: 2, held: null });
    // After this revision, there were only updates of lists, so the rollback undoes nothing.
    const [{ id: undone }] = (await listRevisions(running.database)) as [Revision];
    running.serve('/a', 'a.example\nb.example\nc.example\n', '"3"');
    await node.life.refresh(id);
    await node.life.idle();
    const before = await listRevisions(running.database);
    await running.goBack(node, undone, undone);
    expect(await listRevisions(running.database)).toEqual(before);
    expect(kindsOf(node, 'c.example')).toBe(1);
  });

  test('holds an update again after the rollback of its approval, without a compilation', async () => {
    const node = await running.startNode();
    const names = Array.from({ length: 10 }, (_, index) => `n${index}.example\n`).join('');
    const id = await addList(node, running.serve('/a', names, '"1"'));
    running.serve('/a', 'n0.example\nbad.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    const [{ id: good }] = (await listRevisions(running.database)) as [Revision];
    await node.life.update(id, { comment: 'watched' });
    await node.life.approve(id);
    await node.publisher.settled();
    expect(kindsOf(node, 'bad.example')).toBe(1);
    const compiles = countOf(node, 'lists compiled');

    await running.goBack(node, good);
    await node.life.idle();
    expect([kindsOf(node, 'n9.example'), kindsOf(node, 'bad.example')]).toEqual([1, 0]);
    expect(countOf(node, 'lists compiled')).toBe(compiles);
    expect(await node.life.read(id)).toMatchObject({
      ...{ status: 'held', rules: 10, comment: '', held: { reason: 'undone', rules: 2 } },
      last_error: `held: undone by rolling back to revision ${good}`,
    });
    // The same copy does not become active again, not even after a restart, but a newer copy does.
    await node.life.refresh(id);
    await node.life.idle();
    await node.stop();
    const second = await running.startNode();
    await second.life.idle();
    expect([kindsOf(second, 'bad.example'), (await second.life.read(id)).status]).toEqual([0, 'held']);
    running.serve('/a', `${names}new.example\n`, '"3"');
    await second.life.refresh(id);
    await second.life.idle();
    expect([kindsOf(second, 'new.example'), (await second.life.read(id)).status]).toEqual([1, 'ok']);
  });

  test('restores a deleted list by a rollback', async () => {
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
    // The content of a list is also restored if the list had another URL.
    const [{ id: back }] = (await listRevisions(running.database)) as [Revision];
    await node.life.update(id, { url: running.serve('/b', 'b.example\n') });
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([0, 1]);
    await running.goBack(node, back);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 0]);
  });
});
