import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import { RuleTable } from '../../../shared/snapshot/rule-table.ts';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import {
  blocklist,
  kindsOf,
  type ListNode,
  type RunningLists,
  TESTER,
} from '../../../test/support/parts/running-lists.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { PolicyChanges } from '../../policy/change/change.ts';
import { insertSource, readSource, type StoredSource, updateSource } from './source-store.ts';
import { until, within } from '../../../test/support/parts/until.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

describe('ListSources', () => {
  test('create() returns immediately; the list is fetched, compiled and active soon after', async () => {
    const node = await running.startNode();
    const url = running.serve('/a', 'a.example\nno rule at all\n||b.example^\n', '"1"');
    const created = await node.life.create(blocklist(url));
    expect(created).toMatchObject({ rules: 0, last_checked_at: null });
    // The fetch may already have begun.
    expect(['pending', 'updating']).toContain(created.status);
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example'), kindsOf(node, 'c.example')]).toEqual([
      1, 2, 0,
    ]);
    expect(await node.life.read(created.id)).toMatchObject({
      status: 'ok',
      rules: 2,
      invalid_lines: 1,
      bytes: 38,
      format: 'domains',
      etag: '"1"',
      last_error: null,
      last_checked_at: new Date(node.clock.ms).toISOString(),
      last_changed_at: new Date(node.clock.ms).toISOString(),
    });
    expect(await node.life.unusedLines(created.id)).toEqual([
      { line: 2, reason: 'not a rule', text: 'no rule at all' },
    ]);
  });

  test('update() resolves when changed settings (enabled, groups, subdomains) are active', async () => {
    const node = await running.startNode();
    await running.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
    const id = await addList(node, running.serve('/a', 'a.example\n'));
    const { compiled } = node.publisher.current();
    await node.life.update(id, { enabled: false });
    expect(kindsOf(node, 'a.example')).toBe(0);
    await node.life.update(id, { enabled: true });
    expect(kindsOf(node, 'a.example')).toBe(1);
    expect(node.publisher.current().compiled).toBe(compiled);
    await node.life.update(id, { group_ids: [7] });
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', 7)]).toEqual([0, 1]);
    await node.life.update(id, { subdomains: true, group_ids: [] });
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', 7)]).toEqual([2, 2]);
    expect(running.asked()).toEqual(['/a']);
  });

  test('update() of the URL fetches the new list immediately, even while the old one is being fetched', async () => {
    const node = await running.startNode();
    running.serveBy('/a', (_, response) => void response.write('# slow\n'));
    const { id } = await node.life.create(blocklist(running.urlOf('/a')));
    await until(
      'the list to be asked for',
      () => running.asked(),
      (seen) => seen.includes('/a'),
    );
    await node.life.update(id, { url: running.serve('/b', 'b.example\n') });
    await node.life.idle();
    expect(kindsOf(node, 'b.example')).toBe(1);
  });

  test('update() of the URL keeps the old list active until the new one is fetched', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n', '"1"'));
    let release = (): void => undefined;
    running.serveBy('/b', (request, response) => {
      expect(request.headers['if-none-match']).toBeUndefined();
      release = () => response.end('b.example\n');
    });
    expect(await node.life.update(id, { url: running.urlOf('/b') })).toMatchObject({
      status: 'pending',
      etag: null,
    });
    await until(
      'the new list to be asked for',
      () => running.asked(),
      (seen) => seen.includes('/b'),
    );
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 0]);
    release();
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([0, 1]);
  });

  test('remove() deactivates a list immediately and frees the memory of its names soon after', async () => {
    const node = await running.startNode();
    const { id } = await node.life.create(blocklist(running.serve('/a', 'a.example\n')));
    await addList(node, running.serve('/b', 'b.example\n'));
    await node.life.remove(id);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([0, 1]);
    await node.life.idle();
    expect(new RuleTable(node.publisher.current().snapshot.rules).nameCount).toBe(1);
    // Both copies are kept, because a rollback may restore the list.
    expect(running.copies()).toHaveLength(2);
    await expect(node.life.read(id)).rejects.toMatchObject({ status: 404 });
  });

  test('remove() aborts a running fetch', async () => {
    const node = await running.startNode();
    running.serveBy('/slow', (_, response) => void response.write('# slow\n'));
    const { id } = await node.life.create(blocklist(running.urlOf('/slow')));
    await until(
      'the list to be asked for',
      () => running.asked(),
      (seen) => seen.includes('/slow'),
    );
    await node.life.remove(id);
    await node.life.idle();
    expect(await node.life.list()).toEqual([]);
  });

  test('does not fetch a disabled source until it is enabled', async () => {
    const node = await running.startNode();
    const { id } = await node.life.create(blocklist(running.serve('/a', 'a.example\n'), { enabled: false }));
    await node.life.idle();
    expect(running.asked()).toEqual([]);
    await node.life.update(id, { enabled: true });
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('read() reports the status "updating" for a source that is being fetched', async () => {
    const node = await running.startNode();
    running.serveBy('/slow', (_, response) => void response.write('# slow\n'));
    const { id } = await node.life.create(blocklist(running.urlOf('/slow')));
    expect(await node.life.read(id)).toMatchObject({ status: 'updating' });
    expect((await node.life.list()).map(({ status }) => status)).toEqual(['updating']);
    await node.life.remove(id);
  });

  test('start() may be called again while lists are being fetched', async () => {
    const node = await running.startNode();
    let release = (): void => undefined;
    running.serveBy('/a', (_, response) => {
      response.write('a.example\n');
      release = () => response.end();
    });
    await node.life.create(blocklist(running.urlOf('/a')));
    await until(
      'the beginning of the list to be stored',
      () => running.copies(),
      (all) => all.length === 1,
    );
    await node.life.start();
    release();
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('refuses a URL that another source has, and groups that do not exist', async () => {
    const node = await running.startNode();
    const url = running.serve('/a', 'a.example\n');
    const { id } = await node.life.create(blocklist(url));
    await expect(node.life.create(blocklist(url))).rejects.toMatchObject({ status: 409 });
    await expect(node.life.update(id, { group_ids: [1, 99] })).rejects.toMatchObject({ status: 400 });
    await expect(node.life.update(99_999, { name: 'x' })).rejects.toMatchObject({ status: 404 });
    await expect(node.life.remove(99_999)).rejects.toMatchObject({ status: 404 });
    await expect(node.life.refresh(99_999)).rejects.toMatchObject({ status: 404 });
    expect(await node.life.list()).toHaveLength(1);
  });

  test('uses the copies and snapshots on disk after a restart, without fetching or compiling', async () => {
    const first = await running.startNode();
    await addList(first, running.serve('/a', 'a.example\n'));
    await first.stop();
    running.clearAsked();
    const second = await running.startNode();
    await second.life.idle();
    expect(kindsOf(second, 'a.example')).toBe(1);
    expect(running.asked()).toEqual([]);
    expect(second.logger.text()).not.toContain('lists compiled');
    expect(second.publisher.current().snapshot.version).toBeGreaterThan(
      first.publisher.current().snapshot.version,
    );
  });

  test('compiles the copies on disk after a restart without snapshots, without a fetch', async () => {
    const first = await running.startNode();
    await addList(first, running.serve('/a', 'a.example\n'));
    await first.stop();
    running.dropSnapshots();
    running.clearAsked();
    const second = await running.startNode();
    expect(kindsOf(second, 'a.example')).toBe(1);
    await second.life.idle();
    expect(running.asked()).toEqual([]);
  });

  const TEN = Array.from({ length: 10 }, (_, index) => `n${index}.example\n`).join('');
  test('holds a copy that has less than half of the rules, with a reason, and activates it after approve()', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', TEN, '"1"'));
    running.serve('/a', 'n0.example\nn1.example\nn2.example\nn3.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    const held = { status: 'held', rules: 10, last_error: 'held: the list shrank from 10 to 4 rules' };
    expect(await node.life.read(id)).toMatchObject(held);
    expect(kindsOf(node, 'n9.example')).toBe(1);
    // Another request changes nothing, whether the server responds with 304 or sends the content again.
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject(held);
    running.serve('/a', 'n0.example\nn1.example\nn2.example\nn3.example\n', '"3"');
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject(held);
    expect(running.copies()).toHaveLength(2);

    expect(await node.life.approve(id)).toMatchObject({ status: 'ok', rules: 4, last_error: null });
    expect([kindsOf(node, 'n0.example'), kindsOf(node, 'n9.example')]).toEqual([1, 0]);
    await expect(node.life.approve(id)).rejects.toMatchObject({ status: 409 });
  });

  test('keeps a held update after a restart, and does not activate it', async () => {
    const first = await running.startNode();
    const id = await addList(first, running.serve('/a', TEN));
    running.serve('/a', 'n0.example\n');
    await first.life.refresh(id);
    await first.life.idle();
    await first.stop();
    running.dropSnapshots();
    const second = await running.startNode();
    expect(kindsOf(second, 'n9.example')).toBe(1);
    expect(await second.life.approve(id)).toMatchObject({ status: 'ok', rules: 1 });
    expect(kindsOf(second, 'n9.example')).toBe(0);
  });

  test('does not hold an approved copy when a fetch ends after its approval', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', TEN));
    running.serve('/a', 'n0.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    const isAsked = Promise.withResolvers<undefined>();
    const isApproved = Promise.withResolvers<undefined>();
    running.serveBy('/a', (_, response) => {
      isAsked.resolve(undefined);
      void isApproved.promise.then(() => response.end('n0.example\n'));
    });
    await node.life.refresh(id);
    await isAsked.promise;
    expect(await node.life.approve(id)).toMatchObject({ rules: 1, held: null });
    isApproved.resolve(undefined);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject({ status: 'pending', last_error: null, held: null });
    expect([kindsOf(node, 'n0.example'), kindsOf(node, 'n9.example')]).toEqual([1, 0]);
    await node.life.refreshDue();
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', last_error: null, held: null });
  });

  test('refuses the approval of a copy that another copy has replaced', async () => {
    const first = await running.startNode();
    const id = await addList(first, running.serve('/a', TEN));
    running.serve('/a', 'n0.example\n');
    await first.life.refresh(id);
    await first.life.idle();
    await first.stop();
    const { database } = running;
    let isNext = false;
    const slow = Object.create(database) as typeof database;
    slow.query = async (text, values) => {
      const rows = await database.query(text, values);
      if (isNext && text.includes('list_sources')) {
        isNext = false;
        await database.query(`UPDATE list_sources SET held_key = 'other' WHERE id = $1`, [id]);
      }
      return rows as never;
    };
    const second = await running.startNode(undefined, slow);
    await second.life.idle();
    isNext = true;
    await expect(second.life.approve(id)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('has changed since it was read'),
    });
    expect(kindsOf(second, 'n9.example')).toBe(1);
    expect((await second.life.read(id)).status).toBe('held');
  });

  test('does not undo an approval when it checks rows that were read before the approval', async () => {
    const first = await running.startNode();
    const id = await addList(first, running.serve('/a', TEN));
    running.serve('/a', 'n0.example\n');
    await first.life.refresh(id);
    await first.life.idle();
    await first.stop();
    const { database } = running;
    const isRead = Promise.withResolvers<undefined>();
    const isApproved = Promise.withResolvers<undefined>();
    let isHeld = false;
    const slow = Object.create(database) as typeof database;
    slow.query = async (text, values) => {
      const rows = await database.query(text, values);
      if (isHeld && text.includes('list_sources')) {
        isHeld = false;
        isRead.resolve(undefined);
        await isApproved.promise;
      }
      return rows as never;
    };
    const second = await running.startNode(undefined, slow);
    await second.life.idle();
    isHeld = true;
    second.all.checkSoon();
    await isRead.promise;
    expect(await second.life.approve(id)).toMatchObject({ status: 'ok', rules: 1 });
    isApproved.resolve(undefined);
    await second.life.idle();
    expect(kindsOf(second, 'n9.example')).toBe(0);
  });

  test('allows the names of an allowlist even if a blocklist has the same URL', async () => {
    const node = await running.startNode();
    const url = running.serve('/a', 'a.example\n');
    await node.life.create(blocklist(url));
    const allow = await node.all.create('allow', blocklist(url), TESTER);
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1 | 4);
    await expect(node.life.read(allow.id)).rejects.toMatchObject({ status: 404 });
    await node.all.remove('allow', allow.id, TESTER);
    expect(kindsOf(node, 'a.example')).toBe(1);
  });
});

describe('ListSources adopt()', () => {
  /** Writes and activates rows, like an import. */
  async function adopt(
    node: ListNode,
    write: (tx: Queryable) => Promise<StoredSource[]>,
    isNew = (_source: StoredSource): boolean => false,
  ): Promise<StoredSource[]> {
    const summary = { subject: codedSubject('policy'), action: codedAction('changed') };
    return new PolicyChanges(running.database, node.policy).change(
      TESTER,
      async (tx) => ({ result: await write(tx), summary }),
      (written, apply) => node.all.adopt(written, isNew, apply),
    );
  }
  const insert =
    (...urls: readonly string[]) =>
    (tx: Queryable) =>
      Promise.all(urls.map((url) => insertSource(tx, 'block', blocklist(url))));

  test('resolves when local files are active, and fetches web lists in the background', async () => {
    const node = await running.startNode();
    running.listDirs = [running.dataDir];
    const file = join(running.dataDir, 'own.txt');
    await writeFile(file, 'own.example\n');
    let release = (): void => undefined;
    const url = running.serveBy('/a', (_request, response) => {
      release = () => response.end('a.example\n');
    });
    const [own] = await adopt(node, insert(pathToFileURL(file).href, url));
    await until(
      'the list to be asked for',
      () => running.asked(),
      (seen) => seen.includes('/a'),
    );
    expect([kindsOf(node, 'own.example'), kindsOf(node, 'a.example')]).toEqual([1, 0]);
    release();
    await node.all.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);

    // A changed file is activated if the caller requests it, although the row is unchanged.
    await writeFile(file, 'other.example\n');
    const again = async (tx: Queryable): Promise<StoredSource[]> => [await readSource(tx, own!.id)];
    await adopt(node, again);
    expect(kindsOf(node, 'other.example')).toBe(0);
    await adopt(node, again, ({ id }) => id === own!.id);
    expect([kindsOf(node, 'own.example'), kindsOf(node, 'other.example')]).toEqual([0, 1]);
  });

  test('reads a file that was missing just before it was written', async () => {
    const node = await running.startNode();
    running.listDirs = [running.dataDir];
    const file = join(running.dataDir, 'own.txt');
    const rows = await running.database.transaction(insert(pathToFileURL(file).href));
    const { logger } = node;
    const warn = logger.warn.bind(logger);
    const taken = Promise.withResolvers<undefined>();
    logger.warn = (message, details) => {
      warn(message, details);
      if (!message.startsWith('list not updated')) return;
      logger.warn = warn;
      // The attempt has failed, but its row does not show it yet.
      writeFileSync(file, 'own.example\n');
      void node.all
        .adopt(
          rows,
          () => true,
          () => node.policy.apply(),
        )
        .then(() => taken.resolve(undefined), taken.reject);
    };
    await node.life.refreshDue();
    await within('the file to be taken up', taken.promise);
    expect(kindsOf(node, 'own.example')).toBe(1);
    expect(await node.life.read(rows[0]!.id)).toMatchObject({ status: 'ok', last_error: null });
  });

  test('activates changed groups and the settings subdomains and enabled without another fetch', async () => {
    const node = await running.startNode();
    await running.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
    const id = await addList(node, running.serve('/a', 'a.example\n'));
    await adopt(node, async (tx) => [
      await updateSource(tx, 'block', id, { group_ids: [7], subdomains: true }),
    ]);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', 7)]).toEqual([0, 2]);
    await adopt(node, async (tx) => [await updateSource(tx, 'block', id, { enabled: false })]);
    expect(kindsOf(node, 'a.example', 7)).toBe(0);
    expect(running.asked()).toEqual(['/a']);
  });

  test('resolves even if a file is missing, and the list source reports the error', async () => {
    const node = await running.startNode();
    running.listDirs = [running.dataDir];
    const [gone] = await adopt(node, insert(pathToFileURL(join(running.dataDir, 'gone.txt')).href));
    expect(await node.life.read(gone!.id)).toMatchObject({ status: 'error', rules: 0 });
    await adopt(node, async () => []);
  });
});
