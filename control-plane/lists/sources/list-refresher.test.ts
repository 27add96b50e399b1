import { describe, expect, test } from '@jest/globals';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import { blocklist, kindsOf, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { until } from '../../../test/support/parts/until.ts';
import type { ListAnswer } from '../../../test/support/weir/list-server.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

describe('ListRefresher', () => {
  test('refresh() requests a list conditionally, and compiles it only if it has changed', async () => {
    const node = await running.startNode();
    const id = await addList(node, running.serve('/a', 'a.example\n', '"1"'));
    const compiledAt = node.publisher.current().compiled;
    node.clock.ms += 1000;
    expect(await node.life.refresh(id)).toMatchObject({ id, status: 'updating' });
    await node.life.idle();
    expect(node.publisher.current().compiled).toBe(compiledAt);
    expect(await node.life.read(id)).toMatchObject({
      last_checked_at: new Date(node.clock.ms).toISOString(),
      last_changed_at: new Date(node.clock.ms - 1000).toISOString(),
    });
    running.serve('/a', 'a2.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a2.example')]).toEqual([0, 1]);
  });

  test.each<[string, ListAnswer | undefined, RegExp]>([
    ['404', undefined, /answered 404/],
    ['an HTML page', (_, r) => r.end('<html>Sign in</html>'), /HTML/],
    ['an empty body', (_, r) => r.end(), /empty/],
    ['comments only', (_, r) => r.end('# gone\n'), /no rule/],
    ['only rules that Weir cannot apply', (_, r) => r.end('||a.example^$doc\n'), /line 1: modifier/],
    ['a closed connection', (request) => request.socket.destroy(), /could not fetch http/],
  ])(
    'after a fetch that returns %s keeps the last copy active and reports the reason',
    async (_what, answer, reason) => {
      const node = await running.startNode();
      const id = await addList(node, running.serve('/a', 'a.example\n'));
      if (answer === undefined) running.serveNothing();
      else running.serveBy('/a', answer);
      await node.life.refresh(id);
      await node.life.idle();
      expect(kindsOf(node, 'a.example')).toBe(1);
      expect(await node.life.read(id)).toMatchObject({
        status: 'error',
        last_error: expect.stringMatching(reason),
        rules: 1,
      });
      expect(node.logger.text()).toContain('list not updated; its last copy stays active');
      running.serve('/a', 'a.example\n');
      await node.life.refresh(id);
      await node.life.idle();
      expect(await node.life.read(id)).toMatchObject({ status: 'ok', last_error: null });
    },
  );

  test('reports that a list that was never fetched successfully has no copy', async () => {
    const node = await running.startNode();
    await node.life.create(blocklist(running.urlOf('/missing')));
    await node.life.idle();
    expect(node.logger.text()).toContain('list not updated; it is not active until it can be fetched');
    expect(node.logger.text()).not.toContain('stays active');
  });

  test('fetches twelve new lists four at a time and compiles them in a few runs', async () => {
    const node = await running.startNode();
    let atWork = 0;
    let max = 0;
    let release: () => void = () => undefined;
    const fourAtWork = new Promise<void>((resolve) => (release = resolve));
    for (let index = 0; index < 12; index++) {
      running.serveBy(`/${index}`, (_, response) => {
        max = Math.max(max, ++atWork);
        // If the limit did not exist, a fifth fetch would start while four are running.
        if (atWork === 4) setTimeout(release, 20);
        void fourAtWork.then(() => {
          atWork--;
          response.end(`n${index}.example\n`);
        });
      });
      await node.life.create(
        blocklist(running.urlOf(`/${index}`), { name: `list ${index}`, enabled: false }),
      );
    }
    await running.database.query('UPDATE list_sources SET enabled = true');
    expect((await node.life.refreshAll()).map(({ status }) => status)).toEqual(Array(12).fill('updating'));
    await node.life.idle();
    expect(max).toBe(4);
    expect(Array.from({ length: 12 }, (_, index) => kindsOf(node, `n${index}.example`))).toEqual(
      Array(12).fill(1),
    );
    expect((await node.life.list()).every(({ status }) => status === 'ok')).toBe(true);
  });

  test('refreshes lists that are due: after a day, and within minutes after a failure', async () => {
    const node = await running.startNode();
    await node.life.create(blocklist(running.serve('/a', 'a.example\n')));
    await node.life.create(blocklist(running.urlOf('/missing'), { name: 'missing' }));
    await node.life.idle();
    const check = async (minutes: number): Promise<string[]> => {
      running.clearAsked();
      node.clock.ms += minutes * 60_000;
      await node.life.refreshDue();
      await node.life.idle();
      return running.asked().toSorted();
    };
    expect(await check(0)).toEqual([]);
    expect(await check(1)).toEqual(['/missing']);
    expect(await check(1)).toEqual([]);
    expect(await check(24 * 60)).toEqual(['/a', '/missing']);
  });

  test('close() aborts running fetches, and the next start fetches these lists', async () => {
    const first = await running.startNode();
    running.serveBy('/a', (_, response) => void response.write('# slow\n'));
    const { id } = await first.life.create(blocklist(running.urlOf('/a')));
    await until(
      'the list to be asked for',
      () => running.asked(),
      (seen) => seen.includes('/a'),
    );
    await first.stop();
    expect(await first.life.read(id)).toMatchObject({ status: 'pending', last_error: null });
    running.serve('/a', 'a.example\n');
    const second = await running.startNode();
    await second.life.idle();
    expect(kindsOf(second, 'a.example')).toBe(1);
  });
});
