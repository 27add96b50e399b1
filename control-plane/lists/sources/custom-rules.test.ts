/**
 * Lists that users write themselves: they are active when the response to a change is sent, are part of revisions, are
 * used by all nodes, and are never fetched.
 */
import { describe, expect, test } from '@jest/globals';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import {
  blocklist,
  countOf,
  kindsOf,
  type ListNode,
  type RunningLists,
  TESTER,
} from '../../../test/support/parts/running-lists.ts';
import { listRevisions } from '../../policy/change/revision-store.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

const { url: _url, ...RULES } = blocklist('');

/** The id of custom rules with this text. */
async function write(node: ListNode, text: string): Promise<number> {
  return (await node.life.create({ ...RULES, text })).id;
}

const change = (node: ListNode, id: number, text: string, expected: readonly string[] | null = null) =>
  node.all.custom.write('block', id, text, { author: TESTER, expected });
const revisions = () => listRevisions(running.database);

describe('custom rules', () => {
  test('are active when they are created and when their text is replaced, without a fetch', async () => {
    const node = await running.startNode();
    const created = await node.life.create({ ...RULES, text: '||a.example^\n@@||ok.a.example^\n' });
    expect(created).toMatchObject({ has_text: true, url: null, status: 'ok', rules: 2, bytes: 31 });
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([2, 0]);
    const { id } = created;
    expect(await change(node, id, 'b.example\nno rule at all\n##.ad\n')).toMatchObject({
      rules: 1,
      refused: [
        { line: 2, reason: 'not a rule' },
        { line: 3, reason: 'cosmetic rule' },
      ],
    });
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([0, 1]);
    expect((await node.all.custom.read('block', id)).text).toBe('b.example\nno rule at all\n##.ad\n');
    await node.life.refreshDue();
    await node.life.refreshAll();
    await node.life.idle();
    expect(running.asked()).toEqual([]);
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', rules: 1, invalid_lines: 1 });
    await expect(node.life.refresh(id)).rejects.toMatchObject({ status: 409 });
  });

  test('change active rules and shown names without a compilation of the other lists', async () => {
    const node = await running.startNode();
    const many = Array.from({ length: 200 }, (_, index) => `many${index}.example\n`).join('');
    await addList(node, running.serve('/a', `||a.example^\n${many}`));
    const id = await write(node, 'own.example\n');
    const search = { limit: 10, offset: 0, search: 'a.example' };
    const shown = async (kind: 'block' | 'allow', name: string) => {
      const { data, total } = await node.lists.page(kind, { ...search, search: name });
      return { domains: data.map(({ domain }) => domain), total };
    };
    const compiles = countOf(node, 'lists compiled');
    await change(node, id, '||b.own.example^\n@@||a.example^\n||x*.example^\n');
    await change(node, id, '||b.own.example^\n@@||a.example^\n');
    expect(countOf(node, 'lists compiled')).toBe(compiles + 2);
    expect([kindsOf(node, 'own.example'), kindsOf(node, 'b.own.example')]).toEqual([0, 2]);
    await change(node, id, '# moved\nown.example\n@@||a.example^\n@@||many1.example^');
    expect([kindsOf(node, 'own.example'), kindsOf(node, 'b.own.example')]).toEqual([1, 0]);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'many1.example')]).toEqual([10, 9]);
    expect(await shown('block', 'own.example')).toEqual({ domains: ['own.example'], total: 1 });
    expect(await shown('allow', 'many1.example')).toEqual({ domains: ['many1.example'], total: 1 });
    await change(node, id, '||b.own.example^\nown.example\n');
    await change(node, id, '');
    await change(node, id, 'own.example\n||b.own.example^\n');
    expect(await shown('block', 'own.example')).toEqual({
      domains: ['b.own.example', 'own.example'],
      total: 2,
    });
    expect(await shown('allow', 'example')).toEqual({ domains: [], total: 0 });
    expect(await shown('block', 'many')).toMatchObject({ total: 200 });
    expect(countOf(node, 'lists compiled')).toBe(compiles + 2);
    // The edited table must be stored like any other table.
    await node.stop();
    const next = await running.startNode();
    expect([kindsOf(next, 'own.example'), kindsOf(next, 'a.example')]).toEqual([1, 2]);
    expect((await next.lists.page('allow', { ...search, search: 'example' })).total).toBe(0);
    await change(next, id, 'c.own.example\n');
    expect([kindsOf(next, 'c.own.example'), countOf(next, 'lists compiled')]).toEqual([1, 0]);
  });

  test('may be empty, or contain no rule', async () => {
    const node = await running.startNode();
    const id = await write(node, '');
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', rules: 0, last_error: null });
    expect(await change(node, id, '<!doctype html>\n')).toMatchObject({ rules: 0, refused: [{ line: 1 }] });
    await change(node, id, 'a.example');
    expect(kindsOf(node, 'a.example')).toBe(1);
    await change(node, id, '');
    expect(kindsOf(node, 'a.example')).toBe(0);
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', rules: 0, last_error: null });
  });

  test('are checked without being stored', async () => {
    const node = await running.startNode();
    const id = await write(node, 'a.example');
    const before = await revisions();
    expect(await node.all.custom.preview('block', id, 'b.example\n$$$\n')).toEqual({
      rules: 1,
      refused: [{ line: 2, reason: expect.any(String) as unknown }],
    });
    expect((await node.all.custom.read('block', id)).text).toBe('a.example');
    expect(await revisions()).toEqual(before);
    expect(kindsOf(node, 'b.example')).toBe(0);
  });

  test('are not replaced if another user has changed them since they were read', async () => {
    const node = await running.startNode();
    const id = await write(node, 'a.example');
    const { contentKey } = await node.all.custom.read('block', id);
    await change(node, id, 'b.example', [contentKey]);
    await expect(change(node, id, 'c.example', [contentKey])).rejects.toMatchObject({ status: 412 });
    expect((await node.all.custom.read('block', id)).text).toBe('b.example');
  });

  test('are restored immediately by a rollback, without a held update; the same text creates no revision', async () => {
    const node = await running.startNode();
    const id = await write(node, 'a.example');
    const [created] = await revisions();
    await change(node, id, 'b.example');
    const changed = await revisions();
    expect(changed[0]!.summary).toBe('blocklist ads: rules changed');
    await change(node, id, 'b.example');
    expect(await revisions()).toEqual(changed);
    await running.goBack(node, created!.id);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 0]);
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', held: null, last_error: null });
    expect((await node.all.custom.read('block', id)).text).toBe('a.example');
  });

  test('are active at other nodes, and after a restart', async () => {
    const [one, two] = [await running.startNode(), await running.startOther()];
    await write(one, '||a.example^');
    two.life.checkSoon();
    await two.life.idle();
    expect(kindsOf(two, 'a.example')).toBe(2);
    await one.stop();
    expect(kindsOf(await running.startNode(), 'a.example')).toBe(2);
  });

  test('accept the settings of lists except a URL, and fetched lists accept no text', async () => {
    const node = await running.startNode();
    await running.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
    const id = await write(node, 'a.example');
    await node.life.update(id, { url: null, group_ids: [7], subdomains: true });
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', 7)]).toEqual([0, 2]);
    await expect(node.life.update(id, { url: 'https://lists.example/a' })).rejects.toMatchObject({
      status: 400,
    });
    const fetched = await node.life.create(blocklist(running.serve('/a', 'b.example\n')));
    await node.life.idle();
    await expect(node.life.update(fetched.id, { url: null })).rejects.toMatchObject({ status: 400 });
    await expect(node.all.custom.read('block', fetched.id)).rejects.toMatchObject({ status: 404 });
    await expect(change(node, fetched.id, 'c.example')).rejects.toMatchObject({ status: 404 });
  });
});
