import { describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../../shared/dns/name.ts';
import { serveLists } from '../../../test/support/parts/list-suite.ts';
import {
  attributeOf,
  blocklist,
  kindsOf,
  type RunningLists,
} from '../../../test/support/parts/running-lists.ts';
import { filterStats } from '../../policy/snapshot/publish/filter-stats.ts';

let running: RunningLists;

serveLists((opened) => (running = opened));

describe('CompiledLists', () => {
  test('active rules can be searched and paged, and show their sources', async () => {
    const node = await running.startNode();
    await node.life.create(blocklist(running.serve('/a', 'A.example\n||b.example^\n'), { name: 'one' }));
    await node.life.idle();
    const { id } = await node.life.create(
      blocklist(running.serve('/b', 'a.example\nc.test\n@@||d.test^\n'), { name: 'two' }),
    );
    await node.life.idle();
    const page = async (kind: 'block' | 'allow', search?: string, limit = 100, offset = 0) => {
      const { data, total } = await node.lists.page(kind, { limit, offset, search });
      return [total, ...data.map(({ domain, match, sources }) => `${domain} ${match} ${sources.join('+')}`)];
    };
    expect(await page('block')).toEqual([
      3,
      'a.example exact one+two',
      'b.example subdomains one',
      'c.test exact two',
    ]);
    expect(await page('block', undefined, 1, 1)).toEqual([3, 'b.example subdomains one']);
    expect(await page('block', 'EXAMPLE')).toEqual([
      2,
      'a.example exact one+two',
      'b.example subdomains one',
    ]);
    expect(await page('block', 'example', 1, 1)).toEqual([2, 'b.example subdomains one']);
    expect(await page('block', 'nothing')).toEqual([0]);
    expect(await page('allow')).toEqual([1, 'd.test subdomains two']);
    await node.life.update(id, { enabled: false });
    expect(await page('block')).toEqual([2, 'a.example exact one', 'b.example subdomains one']);
    expect(await page('block', 'c.test')).toEqual([0]);
    await running.database.query(
      `INSERT INTO managed_domains (name, domain, action) VALUES ('mine', '*.x.test', 'deny')`,
    );
    await node.policy.apply();
    expect(await page('block', undefined, 2)).toEqual([3, 'x.test subdomains mine', 'a.example exact one']);
  });

  test('counts the rules of each list, and the rules that are in no other list', async () => {
    const node = await running.startNode();
    expect([...node.lists.rulesBySource()]).toEqual([]);
    const texts = [
      'a.example\na.example\n||b.example^\n||c*.example^\n',
      'A.example\n||c*.example^\n/^d[0-9]/\n',
    ];
    const ids: number[] = [];
    for (const [at, text] of texts.entries()) {
      const { id } = await node.life.create(blocklist(running.serve(`/${at}`, text), { name: `list ${at}` }));
      ids.push(id);
      await node.life.idle();
    }
    const counted = () => ids.map((id) => node.lists.rulesBySource().get(id));
    expect(counted()).toEqual([
      { rules: 3, unique: 1 },
      { rules: 3, unique: 1 },
    ]);
    await node.life.update(ids[0]!, { enabled: false });
    expect(counted()).toEqual([undefined, { rules: 3, unique: 3 }]);
    const bad = await node.life.create(
      blocklist(running.serve('/bad', '||c*.example^$badfilter\n'), { name: 'bad' }),
    );
    await node.life.idle();
    expect(counted()).toEqual([undefined, { rules: 2, unique: 2 }]);
    expect(node.lists.rulesBySource().get(bad.id)).toEqual({ rules: 0, unique: 0 });
  });

  test('omits rules that $badfilter disables for all clients, and the log names the remaining sources', async () => {
    const node = await running.startNode();
    const { rows } = await running.database.query<{ id: number }>(
      `INSERT INTO groups (name) VALUES ('seven') RETURNING id`,
    );
    const [{ id: seven }] = rows as [{ id: number }];
    const rules = '||a.example^\n||b*.example^\n';
    await node.life.create(blocklist(running.serve('/a', rules), { name: 'one' }));
    await node.life.create(
      blocklist(running.serve('/b', `${rules}||c.example^\n`), { name: 'two', group_ids: [seven] }),
    );
    await node.life.idle();
    const bad = await node.life.create(
      blocklist(running.serve('/bad', '||a.example^$badfilter\n||b*.example^$badfilter\n'), {
        name: 'bad',
        group_ids: [seven],
      }),
    );
    await node.life.idle();
    const shown = async () => {
      const { data } = await node.lists.page('block', { limit: 100, offset: 0, search: undefined });
      return data.map(({ domain, sources }) => `${domain} ${sources.join('+')}`).sort();
    };
    expect(await shown()).toEqual(['a.example one', 'c.example two', '||b*.example^ one']);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', seven)]).toEqual([2, 0]);
    const { snapshot } = node.publisher.current();
    const name = nameFromText('a.example')!;
    const rule = { origin: 0, index: attributeOf(node, 'a.example'), kinds: 2, name };
    const describe = (groupId: number) =>
      node.publisher.describeRule(snapshot.version, { ...rule, groupId })?.sources;
    expect([describe(1), describe(seven)]).toEqual([['one'], undefined]);
    expect(filterStats(node.publisher.current()).blocked_domains).toBe(2);
    await node.life.update(bad.id, { group_ids: [] });
    expect(await shown()).toEqual(['c.example two']);
    expect(filterStats(node.publisher.current()).blocked_domains).toBe(1);
  });
});
