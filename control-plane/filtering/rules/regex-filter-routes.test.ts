/** Regex filters over HTTP; separate suites test their effect on answers. */
import { describe, expect, test } from '@jest/globals';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { regexFilterRoutes } from './regex-filter-routes.ts';
import { RegexFilter, RegexFilterList } from '../../../shared/api/policy/rules-api.ts';
import type { RunningApi, Rows, TestAnswer } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = regexFilterRoutes;

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));

const REGEXES = '/api/regex-filters';

describe('regex filters over the API', () => {
  const post = (json: unknown): Promise<TestAnswer> => api.send('POST', REGEXES, { json });

  test('are created, read, changed and deleted', async () => {
    const created = await post({ name: 'Ads', pattern: '^ad[sx]?[0-9]*\\.', action: 'deny' });
    expect(created.status).toBe(201);
    const filter = RegexFilter.parse(created.body);
    const path = `${REGEXES}/${filter.id}`;
    expect((await api.send('GET', path)).body).toEqual(filter);
    expect(RegexFilterList.parse((await api.send('GET', REGEXES)).body)).toEqual([filter]);
    const changed = await api.send('PUT', path, { json: { pattern: '^x$', enabled: false } });
    expect(RegexFilter.parse(changed.body)).toMatchObject({ name: 'Ads', pattern: '^x$', enabled: false });
    expect((await readPolicyRows(suite.database, () => undefined)).regexFilters).toEqual([]);
    expect((await api.send('DELETE', path)).status).toBe(204);
    expect((await api.send('GET', path)).status).toBe(404);
  });

  test.each(['(', '[a', '(a)\\1', '(?=a)b', '(?<!a)b', '', 'a'.repeat(1001)])(
    'refuse the pattern %j with the reason',
    async (pattern) => {
      const answer = await post({ pattern, action: 'deny' });
      expect([answer.status, answer.problem.errors![0]!.path]).toEqual([400, 'pattern']);
      expect(answer.problem.errors![0]!.message).not.toBe('');
    },
  );

  test.each([
    ['^', /^it matches every name; if that is meant, write \.\*$/],
    ['[x]?', /^it matches every name; if that is meant, write \.\*$/],
    ['/rj\\.example/', /^it cannot match any name/],
    ['пример', /^it cannot match any name/],
    ['rj\\.example;invert', /^the option ;invert is not supported/],
    ['rj\\.example;reply=IP', /^;reply= must be an address/],
  ])('refuse the filter %s with the reason', async (pattern, reason) => {
    const answer = await post({ pattern });
    expect([answer.status, answer.problem.errors![0]!.message]).toEqual([400, expect.stringMatching(reason)]);
  });

  test.each(['.*', '^rj\\.example$;querytype=AAAA', '^rj2\\.example$;reply=NXDOMAIN'])(
    'accept %s',
    async (pattern) => {
      expect((await post({ pattern })).status).toBe(201);
      expect((await readPolicyRows(suite.database, () => undefined)).regexFilters).toMatchObject([
        { pattern },
      ]);
    },
  );

  test.each([
    ['[0-9][a-z0-9]{40}x', /more than \d+ states/],
    ['(?:[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[a-z]?){900}', /too large/],
    ['(?:[a-z]?){480}[0-9]{3}(?:[a-z]?){480}$', /too long to compile/],
  ])('refuse %s, which cannot be matched in bounded time, with the reason', async (pattern, reason) => {
    const answer = await post({ pattern, action: 'deny' });
    expect(answer.status).toBe(400);
    expect(answer.problem.errors).toMatchObject([
      { path: 'pattern', message: expect.stringMatching(reason) },
    ]);
  });

  test('that contain no literal text are refused with 400 beyond a limit, until one of them is disabled', async () => {
    // The states of each expression have different letters, so that no two expressions share states.
    const stubborn = (at: number): string => {
      const [one, other] = [at % 26, Math.floor(at / 26)].map((letter) => String.fromCharCode(97 + letter));
      return `[${one!}-z][a-z0-9.-]{6}${other!}${one!}`;
    };
    await suite.database.query(
      `INSERT INTO regex_filters (name, pattern, action) SELECT pattern, pattern, 'deny' FROM unnest($1::text[]) pattern`,
      [Array.from({ length: 300 }, (_, at) => stubborn(at)).filter((_, at) => at % 2 === 0)],
    );
    const others = Array.from({ length: 150 }, (_, at) => ({ pattern: stubborn(2 * at + 1) }));
    const many = await api.send('POST', `${REGEXES}/bulk`, { json: { create: others } });
    expect([many.status, many.problem.errors]).toMatchObject([
      400,
      [
        {
          path: expect.stringMatching(/^create\.\d+\.pattern$/),
          message: expect.stringMatching(/too many regular expressions that every name/),
        },
      ],
    ]);
    expect(RegexFilterList.parse((await api.send('GET', REGEXES)).body)).toHaveLength(150);
    let status = 201;
    let last: TestAnswer | undefined;
    for (let at = 1; status === 201 && at < 300; at += 2) {
      last = await post({ pattern: stubborn(at), action: 'deny' });
      status = last.status;
    }
    expect(last?.status).toBe(400);
    expect(last?.problem.errors).toMatchObject([
      { path: 'pattern', message: expect.stringMatching(/too many regular expressions that every name/) },
    ]);
    expect((await post({ pattern: '^tracker[0-9]+', action: 'deny' })).status).toBe(201);
    const off = await post({ pattern: '[b-y][a-z0-9]{7}[0-9]', action: 'deny', enabled: false });
    expect(off.status).toBe(201);
    const path = `${REGEXES}/${RegexFilter.parse(off.body).id}`;
    expect((await api.send('PUT', path, { json: { enabled: true } })).status).toBe(400);
    await suite.database.query('UPDATE regex_filters SET enabled = false WHERE id <> $1', [
      RegexFilter.parse(off.body).id,
    ]);
    expect((await api.send('PUT', path, { json: { enabled: true } })).status).toBe(200);
  });

  test('are replaced in one request, and each rejected pattern is reported with its index', async () => {
    const { id } = RegexFilter.parse((await post({ pattern: 'ads' })).body);
    const bulk = (create: readonly object[]): Promise<TestAnswer> =>
      api.send('POST', `${REGEXES}/bulk`, { json: { delete: [id], create } });
    const refused = await bulk([{ pattern: '(' }, { pattern: 'banner' }, { pattern: '(' }]);
    expect([refused.status, refused.problem.errors!.map(({ path }) => path)]).toEqual([
      400,
      ['create.0.pattern', 'create.2.pattern'],
    ]);
    const before = api.policyChanges;
    const replaced = await bulk([{ pattern: 'ads', group_id: 1, comment: 'why' }, { pattern: 'ads' }]);
    expect([replaced.status, replaced.body]).toMatchObject([200, { deleted: [id] }]);
    expect((await readPolicyRows(suite.database, () => undefined)).regexFilters).toMatchObject([
      { pattern: 'ads', groupId: 1 },
      { pattern: 'ads', groupId: null },
    ]);
    expect(api.policyChanges - before).toBe(1);
  });

  test('that already exist are refused with 409', async () => {
    expect((await post({ pattern: 'ads', action: 'deny' })).status).toBe(201);
    expect((await post({ pattern: 'ads', action: 'deny' })).status).toBe(409);
  });
});
