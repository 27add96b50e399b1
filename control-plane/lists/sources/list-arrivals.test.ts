import { describe, expect, test } from '@jest/globals';
import { serveLists } from '../../../test/support/parts/list-suite.ts';
import { blocklist, kindsOf, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { until } from '../../../test/support/parts/until.ts';
import { listRevisions } from '../../policy/change/revision-store.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

describe('lists that arrive together', () => {
  test('create one revision and one compilation, even if one of them fails', async () => {
    const node = await running.startNode();
    for (let index = 0; index < 30; index++) {
      if (index !== 7) running.serve(`/${index}`, `n${index}.example\n`);
      await node.life.create(
        blocklist(running.urlOf(`/${index}`), { name: `list ${index}`, enabled: false }),
      );
    }
    await running.database.query('UPDATE list_sources SET enabled = true');
    const [before] = await listRevisions(running.database);
    await node.life.refreshAll();
    await node.life.idle();
    const revisions = (await listRevisions(running.database)).filter(({ id }) => id > before!.id);
    expect(revisions).toHaveLength(1);
    expect(revisions[0]!.summary).toMatch(
      /^blocklist list \d+, blocklist list \d+, .* and 26 more: updated$/,
    );
    expect(node.logger.text().match(/lists compiled/g)).toHaveLength(1);
    expect(Array.from({ length: 30 }, (_, index) => kindsOf(node, `n${index}.example`))).toEqual(
      Array.from({ length: 30 }, (_, index) => (index === 7 ? 0 : 1)),
    );
  });

  test('do not wait long for a list whose server does not respond', async () => {
    const node = await running.startNode();
    running.serveBy('/slow', (_, response) => void response.write('# slow\n'));
    await node.life.create(blocklist(running.urlOf('/slow'), { name: 'slow' }));
    await node.life.create(blocklist(running.serve('/a', 'a.example\n')));
    await until(
      'the list to be active',
      () => kindsOf(node, 'a.example'),
      (kinds) => kinds === 1,
    );
  });
});
