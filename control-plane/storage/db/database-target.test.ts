import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { embeddedTarget, fromSentTarget, parseDatabaseUrls, toSentTarget } from './database-target.ts';

const ADDRESS = { host: '/run/weir', port: 5432, user: 'weir', password: 'secret', database: 'weir' };
const URLS =
  'postgres://a:secret@192.0.2.1/weir?sslmode=require, postgres://b@192.0.2.2/weir?sslpassword=secret';

describe('parseDatabaseUrls()', () => {
  test('returns names of servers without their passwords', () => {
    const targets = parseDatabaseUrls(URLS);
    expect(targets.map(({ name }) => name)).toEqual([
      'postgres://a@192.0.2.1/weir?sslmode=require',
      'postgres://b@192.0.2.2/weir',
    ]);
    expect(targets.map(({ isOurs }) => isOurs)).toEqual([false, false]);
    expect(parseDatabaseUrls('')).toEqual([]);
  });
});

describe('toSentTarget()', () => {
  test.each([...parseDatabaseUrls(URLS), embeddedTarget(ADDRESS)])(
    'converts $name to plain data that describe the same server in another thread',
    (target) => {
      const sent = structuredClone(toSentTarget(target));
      const received = fromSentTarget(sent);
      const { owner, ...forQueries } = target;
      expect(received).toEqual(forQueries);
      if (owner !== undefined) expect(JSON.stringify(sent)).not.toContain(ADDRESS.password);
      const parse = received.config.types!.getTypeParser(pg.types.builtins.INT8, 'text') as (
        text: string,
      ) => unknown;
      expect(parse('7')).toBe(7);
    },
  );
});
