import { describe, expect, test } from '@jest/globals';
import { truncateSync } from 'node:fs';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import { blocklist, kindsOf, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { CompilePool } from '../../policy/compile/table/compile-pool.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

describe('ListCompiler', () => {
  test('a restart frees the memory of the rules of a disabled list', async () => {
    const first = await running.startNode();
    const id = await addList(first, running.serve('/a', 'a.example\n'));
    await first.life.update(id, { enabled: false });
    expect(first.publisher.current().compiled.sources).toHaveLength(1);
    await first.stop();
    const second = await running.startNode();
    expect(second.publisher.current().compiled.sources).toEqual([]);
    await second.life.update(id, { enabled: true });
    expect(kindsOf(second, 'a.example')).toBe(1);
  });

  test('a copy that was damaged on disk is reported and fetched again', async () => {
    const first = await running.startNode();
    const id = await addList(first, running.serve('/a', 'a.example\n', '"1"'));
    await first.stop();
    running.dropSnapshots();
    const [copy] = running.copies();
    truncateSync(copy!, 15);
    const second = await running.startNode();
    await second.life.idle();
    expect(kindsOf(second, 'a.example')).toBe(1);
    expect(await second.life.read(id)).toMatchObject({ status: 'ok', last_error: null });
  });

  /** Rules that fill a small heap when they are compiled, but not while they are counted. */
  const HEAVY = Array.from(
    { length: 45_000 },
    (_, index) => `||a${index}.example^$denyallow=${`b${index}.example|`.repeat(18)}c.example\n`,
  ).join('');

  test('a first copy that crashes the compiler is refused with a reason, and other lists become active', async () => {
    const node = await running.startNode(new CompilePool(24));
    const id = await addList(node, running.serve('/heavy', HEAVY));
    expect(await node.life.read(id)).toMatchObject({
      status: 'error',
      last_error: expect.stringMatching(/^could not (compile|inspect) lists: .*memory/),
    });
    expect(node.logger.text()).not.toContain('stays active');
    const other = await node.life.create(blocklist(running.serve('/b', 'b.example\n')));
    await node.life.idle();
    expect(await node.life.read(other.id)).toMatchObject({ status: 'ok' });
    expect(kindsOf(node, 'b.example')).toBe(1);
  });

  test('after a newer copy crashes the compiler, the previous copy stays active, also after a restart', async () => {
    const node = await running.startNode(new CompilePool(24));
    const id = await addList(node, running.serve('/a', 'a.example\n', '"1"'));
    running.serve('/a', `${HEAVY}a.example\n`, '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);
    const refused = { status: 'error', last_error: expect.stringMatching(/memory/), rules: 1 };
    expect(await node.life.read(id)).toMatchObject(refused);
    // The same content must not be compiled again, because this would delay other lists.
    await node.life.refreshDue();
    await node.life.idle();
    const otherId = await addList(node, running.serve('/b', 'b.example\n'));
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 1]);
    await node.stop();
    running.serveNothing();
    const next = await running.startNode();
    await next.life.idle();
    expect([kindsOf(next, 'a.example'), kindsOf(next, 'b.example')]).toEqual([1, 1]);
    // A usable copy ends the error.
    running.serve('/a', 'a.example\nc.example\n', '"3"');
    await next.life.refresh(id);
    await next.life.idle();
    expect(await next.life.read(id)).toMatchObject({ status: 'ok', last_error: null, rules: 2 });
    expect(kindsOf(next, 'c.example')).toBe(1);
    expect((await next.life.read(otherId)).rules).toBe(1);
  });
});
