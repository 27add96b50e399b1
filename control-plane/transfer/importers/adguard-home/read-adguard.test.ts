import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { isAdguard, readAdguard } from './read-adguard.ts';

const files = (text: string) => new Map([[ONLY_TEXT, Buffer.from(text)]]);
const read = (text: string) => readAdguard(files(text));

describe('isAdguard()', () => {
  test('recognizes the file by its name or its schema version', () => {
    expect(isAdguard(new Map([['a/AdGuardHome.yaml', Buffer.from('')]]))).toBe(true);
    expect(isAdguard(files('dns:\n  port: 53\nschema_version: 20\n'))).toBe(true);
    expect(isAdguard(files('dns:\n  schema_version: 20\n'))).toBe(false);
  });
});

describe('readAdguard()', () => {
  test.each([
    ['schema_version: 9', 'has schema 9'],
    ['schema_version: x', 'has no schema_version'],
    ['- 1', 'has no schema_version'],
    ['', 'has no schema_version'],
    ['import os\nif os:\n    print("x", [', 'so it is not an AdGuardHome.yaml'],
  ])('refuses %j', (text, reason) => {
    expect(() => read(text)).toThrow(reason);
  });

  test('finds the keys that moved from the section dns to the section filtering', () => {
    const section = '{blocked_services: [a], filtering_enabled: false, rewrites: [{domain: x, answer: y}]}';
    const old = read(`schema_version: 20\ndns: ${section}\nfiltering: {}\n`);
    const now = read(`schema_version: 30\nfiltering: ${section}\ndns: {}\n`);
    for (const { everyone, rewrites } of [old, now]) {
      expect(everyone).toEqual({ isFiltered: false, safeSearch: [], services: ['a'], schedule: null });
      expect(rewrites).toEqual([{ domain: 'x', answer: 'y', enabled: true }]);
    }
  });

  test('uses the individual settings of a client only if it does not use the global settings', () => {
    const own = 'filtering_enabled: false, safesearch_enabled: true, blocked_services: {ids: [b]}';
    const { clients } = read(
      `schema_version: 22\ndns: {blocked_services: {ids: [a]}}\nclients:\n  persistent:\n` +
        `    - {name: A, ids: [x], use_global_settings: true, use_global_blocked_services: false, ${own}}\n` +
        `    - {name: B, ids: [y], use_global_settings: false, use_global_blocked_services: true, ${own}}\n`,
    );
    expect(
      clients.map(({ policy }) => [policy.isFiltered, policy.safeSearch.length, policy.services]),
    ).toEqual([
      [true, 0, ['b']],
      [false, 6, ['a']],
    ]);
  });

  test('reads the times at which services are allowed, and the name of the file of upstream servers', () => {
    const { everyone, clients, upstreamFile } = readAdguard(
      new Map([
        [
          'AdGuardHome.yaml',
          Buffer.from(
            'schema_version: 34\ndns: {upstream_dns_file: /opt/up.txt}\nfiltering:\n  blocked_services:\n' +
              '    ids: [a]\n    schedule: {time_zone: Europe/Berlin, mon: {start: 8h, end: 10h30m}, sun: {start: 0s, end: 24h}}\n' +
              'clients: {persistent: [{name: A, ids: [x], use_global_blocked_services: true}]}\n',
          ),
        ],
        ['up.txt', Buffer.from('192.0.2.53\n# none\n')],
      ]),
    );
    const days = [{ start: 480, end: 630 }, null, null, null, null, null, { start: 0, end: 1440 }];
    expect(everyone.schedule).toEqual({ timeZone: 'Europe/Berlin', days });
    expect(clients[0]!.policy.schedule).toEqual(everyone.schedule);
    expect(upstreamFile).toEqual(['192.0.2.53', '# none', '']);
  });

  test('treats values of a wrong type as missing', () => {
    const { rules, filters, clients, rewrites } = read(
      'schema_version: 34\nuser_rules: {a: 1}\nfilters: [1, {id: {}, url: [x], enabled: 1}]\nclients: 7\nfiltering: {rewrites: x}\n',
    );
    expect([rules, clients, rewrites]).toEqual([[], [], []]);
    expect(filters).toMatchObject([{ url: '' }, { url: '', enabled: false, id: '', copy: null }]);
  });
});
