/**
 * Copies that an older release has checked: rules that its parser rejected must only become active after a user has
 * approved them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import { blocklist, kindsOf, type RunningLists, TESTER } from '../../../test/support/parts/running-lists.ts';
import { listRevisions } from '../../policy/change/revision-store.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

const WIDE = '||ads.example^\n||*^$dnstype=AAAA\n';
const REASON = 'held: line 2 applies to every name: ||*^$dnstype=AAAA';
const { url: _url, ...RULES } = blocklist('');

/**
 * Changes the database to the state of an older release with another parser, which stored no check results and no held
 * updates.
 */
async function leaveToOldRelease(): Promise<void> {
  await running.database.query(`UPDATE list_sources SET judged = NULL, status = 'ok', last_error = NULL,
    content_key = coalesce(held_key, content_key), held_key = NULL, held = NULL,
    content_url_key = left(encode(sha256(convert_to(url, 'UTF8')), 'hex'), 16)`);
}

describe('after an upgrade that interprets rules differently, Weir', () => {
  test.each(['a list', 'a local file', 'a text'])(
    'holds %s, which now matches more names, until it is approved',
    async (what) => {
      const first = await running.startNode();
      let id: number;
      if (what === 'a text') ({ id } = await first.life.create({ ...RULES, text: WIDE }));
      else if (what === 'a list') id = await addList(first, running.serve('/a', WIDE, '"1"'));
      else {
        const folder = join(running.dataDir, 'lists');
        mkdirSync(folder);
        writeFileSync(join(folder, 'a.txt'), WIDE);
        running.listDirs = [folder];
        await first.stop();
        const reader = await running.startNode();
        id = await addList(reader, `file:${join(folder, 'a.txt')}`);
        await reader.stop();
      }
      await first.stop();
      await leaveToOldRelease();
      running.dropSnapshots();

      const node = await running.startNode();
      await node.life.idle();
      expect(await node.life.read(id)).toMatchObject({
        status: 'held',
        last_error: REASON,
        held: { reason: 'every_name', wide_rules: [{ line: 2, rule: '||*^$dnstype=AAAA' }] },
      });
      expect(node.publisher.current().compiled.sources).toEqual([]);
      // Neither the same copy nor a restart activates it again.
      if (what === 'a list') await node.life.refresh(id);
      await node.life.idle();
      await node.stop();
      const second = await running.startNode();
      await second.life.idle();
      expect([kindsOf(second, 'ads.example'), (await second.life.read(id)).status]).toEqual([0, 'held']);
      if (what === 'a text') expect((await second.all.custom.read('block', id)).text).toBe(WIDE);
      expect((await listRevisions(running.database))[0]).toMatchObject({
        summary: 'blocklist ads: held, because this release interprets it differently',
      });

      expect(await second.life.approve(id)).toMatchObject({ status: 'ok', last_error: null, held: null });
      expect(kindsOf(second, 'ads.example')).toBe(2);
      await second.stop();
      const third = await running.startNode();
      await third.life.idle();
      expect([kindsOf(third, 'ads.example'), (await third.life.read(id)).status]).toEqual([2, 'ok']);
    },
  );

  test('refuses the approval of a copy that is now held for another reason, and shows that reason', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', WIDE));
    await running.database.query(
      `UPDATE list_sources SET held = held - 'wide_rules' || '{"reason": "shrank"}'`,
    );
    await expect(node.life.approve(id)).rejects.toMatchObject({
      status: 409,
      message: `blocklist source ${id} is interpreted differently than when its update was held; ${REASON}`,
    });
    expect(await node.life.read(id)).toMatchObject({ status: 'held', held: { reason: 'every_name' } });
    expect(await node.life.approve(id)).toMatchObject({ status: 'ok' });
    expect(kindsOf(node, 'ads.example')).toBe(2);
  });

  test('keeps lists active that do not match more names, or that were approved', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n'));
    const wide = await addList(node, running.serve('/b', WIDE));
    await node.life.approve(wide);
    await node.stop();
    await running.database.query(
      `UPDATE list_sources SET judged = judged || '{"reading": 1}' WHERE id = $1`,
      [wide],
    );
    await running.database.query('UPDATE list_sources SET judged = NULL WHERE id = $1', [id]);
    const next = await running.startNode();
    await next.life.idle();
    expect([kindsOf(next, 'a.example'), kindsOf(next, 'ads.example')]).toEqual([1, 2]);
    const { rows } = await running.database.query<{ reading: number }>(
      `SELECT (judged->>'reading')::int AS reading FROM list_sources`,
    );
    expect(new Set(rows.map(({ reading }) => reading)).size).toBe(1);
  });

  test('checks a disabled list when it is enabled', async () => {
    const node = await running.startNode();
    const wide = await addList(node, running.serve('/a', WIDE));
    const narrow = await addList(node, running.serve('/b', 'b.example\n'));
    await node.stop();
    await leaveToOldRelease();
    await running.database.query('UPDATE list_sources SET enabled = false');
    running.dropSnapshots();
    const next = await running.startNode();
    expect(await next.life.update(wide, { enabled: true })).toMatchObject({
      status: 'held',
      last_error: REASON,
    });
    expect(await next.life.update(narrow, { enabled: true })).toMatchObject({ status: 'ok' });
    expect([kindsOf(next, 'ads.example'), kindsOf(next, 'b.example')]).toEqual([0, 1]);
  });

  test('lets a user replace the text of held custom rules, and a newer copy replace a held list', async () => {
    const node = await running.startNode();
    const { id } = await node.life.create({ ...RULES, text: WIDE });
    const list = await addList(node, running.serve('/a', WIDE));
    await node.stop();
    await leaveToOldRelease();
    const next = await running.startNode();
    const { contentKey } = await next.all.custom.read('block', id);
    const change = { author: TESTER, expected: [contentKey] };
    await next.all.custom.write('block', id, `b.example\n${WIDE}`, change);
    expect([kindsOf(next, 'b.example'), (await next.life.read(id)).status]).toEqual([1, 'ok']);
    running.serve('/a', 'c.example\n');
    await next.life.refresh(list);
    await next.life.idle();
    expect([kindsOf(next, 'c.example'), (await next.life.read(list)).status]).toEqual([1, 'ok']);
  });
});
