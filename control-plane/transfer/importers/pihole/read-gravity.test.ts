import { describe, expect, test } from '@jest/globals';
import { readGravityJson } from './read-gravity.ts';

const files = (contents: Record<string, unknown>) =>
  new Map(Object.entries(contents).map(([name, value]) => [name, Buffer.from(JSON.stringify(value))]));

describe('readGravityJson()', () => {
  test('uses the file name as the type of a domain, and reads numbers in quotes', () => {
    const { domains, domainLinks } = readGravityJson(
      files({
        'whitelist.exact.json': [{ id: '1', domain: 'a', enabled: '1' }],
        'blacklist.exact.json': [{ id: 2, domain: 'b', enabled: 0 }],
        'whitelist.regex.json': [{ id: '3', domain: 'c', enabled: true }],
        'blacklist.regex.json': [{ id: '4', domain: 'd', enabled: 1, comment: 'x' }],
        'domainlist_by_group.json': [
          { domainlist_id: '1', group_id: '0' },
          { domainlist_id: 1, group_id: 2 },
        ],
      }),
    );
    expect(domains.map(({ id, type, enabled }) => [id, type, enabled])).toEqual([
      [1, 0, true],
      [2, 1, false],
      [3, 2, true],
      [4, 3, true],
    ]);
    expect(domainLinks.get(1)).toEqual([0, 2]);
  });

  test('reads rows with values of a wrong type as rows without an ID', () => {
    const { lists } = readGravityJson(files({ 'adlist.json': [{ id: {}, address: 5, enabled: null }] }));
    expect(lists).toEqual([{ id: -1, address: '5', enabled: false, comment: '', kind: 'block' }]);
  });
});
