/** Safe search over HTTP, and the data of the engines; separate suites test its effect on answers. */
import { describe, expect, test } from '@jest/globals';
import { groupRoutes } from '../../clients/groups/group-routes.ts';
import { readPolicyRows } from '../../policy/change/policy-store.ts';
import { revisionRoutes } from '../../transfer/revisions/revision-routes.ts';
import { ENGINES } from '../../policy/snapshot/build/engine-data.ts';
import { safeSearchRoutes } from './safe-search-routes.ts';
import { SAFE_SEARCH_ENGINES, SafeSearchConfigList } from '../../../shared/api/policy/safe-search-api.ts';
import type { SafeSearchConfig } from '../../../shared/api/policy/safe-search-api.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { canonicalDomain } from '../../../shared/policy/domain-rule.ts';
import type { RunningApi, Rows } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = (parts) => [
  ...safeSearchRoutes(parts),
  ...groupRoutes(parts),
  ...revisionRoutes({ ...parts, activateRestored: () => Promise.resolve() }),
];

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served));

const ALL = '/api/safe-search/configs';
const DEFAULT = `${ALL}/1`;

async function list(path: string): Promise<SafeSearchConfig[]> {
  return SafeSearchConfigList.parse((await api.send('GET', path)).body);
}

describe('safe search settings over the API', () => {
  test('are disabled until one engine or all engines are enabled, and again after DELETE', async () => {
    const before = api.policyChanges;
    const off = SAFE_SEARCH_ENGINES.map((engine) => ({
      group_id: 1,
      engine,
      enabled: false,
      youtube_mode: 'strict',
    }));
    expect(await list(DEFAULT)).toEqual(off);
    expect(await list(ALL)).toEqual([]);
    const json = { engine: 'youtube', enabled: true, youtube_mode: 'moderate' };
    const posted = await api.send('POST', DEFAULT, { json });
    expect(posted.status).toBe(200);
    const youtube = { group_id: 1, ...json };
    const one = off.map((config) => (config.engine === 'youtube' ? youtube : config));
    expect(posted.body).toEqual(one);
    expect(await list(ALL)).toEqual([youtube]);
    const all = SafeSearchConfigList.parse((await api.send('POST', DEFAULT, { json: {} })).body);
    expect(all).toEqual(one.map((config) => ({ ...config, enabled: true })));
    expect((await api.send('DELETE', DEFAULT)).status).toBe(204);
    expect(await list(DEFAULT)).toEqual(off);
    expect(api.policyChanges - before).toBe(3);
  });

  test.each([
    [{ engine: 'altavista' }, ['engine']],
    [{ engine: 'google', enabled: 'yes' }, ['enabled']],
    [{ youtube_mode: 'mild' }, ['youtube_mode']],
    [{ group_id: 1 }, ['group_id']],
  ])('refuse %j and name the invalid field', async (json, paths) => {
    const answer = await api.send('POST', DEFAULT, { json });
    expect([answer.status, answer.problem.errors!.map(({ path }) => path)]).toEqual([400, paths]);
  });

  test('for an unknown group are refused with 404', async () => {
    for (const [method, json] of [
      ['GET', undefined],
      ['POST', {}],
      ['DELETE', undefined],
    ] as const)
      expect((await api.send(method, `${ALL}/4711`, { json })).status).toBe(404);
  });

  test('are part of the policy while enabled, deleted with their group, and restored by a rollback', async () => {
    const { id } = (await api.send('POST', '/api/groups', { json: { name: 'kids' } })).body as { id: number };
    await api.send('POST', `${ALL}/${id}`, { json: { engine: 'bing' } });
    await api.send('POST', `${ALL}/${id}`, { json: { engine: 'brave', enabled: false } });
    const rows = async () => (await readPolicyRows(suite.database, () => undefined)).safeSearch;
    const expected = [{ groupId: id, engine: 'bing', youtubeMode: 'strict' }];
    expect(await rows()).toEqual(expected);
    const [revision] = (await api.send('GET', '/api/revisions')).body as Revision[];
    expect(revision!.summary).toBe(`safe search of group ${id}: brave off`);
    await api.send('DELETE', `/api/groups/${id}`);
    expect(await rows()).toEqual([]);
    expect((await api.send('POST', `/api/revisions/${revision!.id}/rollback`)).status).toBe(200);
    expect(await rows()).toEqual(expected);
  });
});

describe('the table of safe search engines', () => {
  test('has the same engines as the API, each with well-formed names that no other engine has', () => {
    expect(ENGINES.map(({ id }) => id)).toEqual(SAFE_SEARCH_ENGINES);
    const names = ENGINES.flatMap(({ domains }) => domains);
    expect(names.filter((name) => canonicalDomain(name) !== name)).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(ENGINES.find(({ id }) => id === 'google')!.domains).toHaveLength(194);
  });

  test('has no target name that belongs to an engine', () => {
    const names = new Set(ENGINES.flatMap(({ domains }) => domains));
    const targets = ENGINES.flatMap(({ modes }) => [modes.strict, modes.moderate]).flatMap((target) =>
      target !== undefined && 'cname' in target ? [target.cname] : [],
    );
    expect(targets.filter((target) => names.has(target))).toEqual([]);
  });
});
