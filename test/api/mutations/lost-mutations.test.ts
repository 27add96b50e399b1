/**
 * Every route that changes something, while its database is lost: before the request, at the first change of a row (for
 * some routes by a stalled connection), or at the COMMIT. The response is 503, and the tables are unchanged or
 * completely changed.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../support/parts/as-owner.ts';
import type { Route } from '../../../control-plane/api/route.ts';
import { startDatabase } from '../../../control-plane/storage/db/database.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { ChangingApi } from '../../support/parts/changing-api.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { CHANGING, entriesOf } from '../../support/parts/api-changes.ts';
import type { Mutation } from '../../support/parts/mutation-fixture.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import { CuttingProxy } from '../../support/weir/cutting-proxy.ts';
import type { Cut } from '../../support/weir/cutting-proxy.ts';

let changing: ChangingApi;
let proxy: CuttingProxy;
let lost: Database;

/** Puts a proxy between the API and its database. */
async function connect(): Promise<void> {
  proxy = await CuttingProxy.open(changing.database);
  const urls = `postgres://tester:secret@127.0.0.1:${proxy.port}/postgres`;
  lost = startDatabase({ urls, lock: changing.lists.lock, logger: new MemoryLogger() });
  await lost.whenUp();
  changing.way.current = lost;
}

async function disconnect(): Promise<void> {
  changing.way.current = changing.database;
  await lost.close();
  await proxy.close();
}

beforeAll(async () => {
  changing = await ChangingApi.open();
  await asOwner(changing.database, `CREATE ROLE tester LOGIN SUPERUSER PASSWORD 'secret'`);
});
afterAll(() => changing.close());

/** Every row that a change may write, except the results of fetching lists. */
async function everyRow(): Promise<string> {
  const facts = `- ARRAY['format','status','rules','invalid_lines','bytes','etag','last_modified','last_checked_at',
    'last_changed_at','last_error','held_key','held','judged','file_node']`;
  const { rows: tables } = await changing.database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'
       AND table_type = 'BASE TABLE' AND table_name !~ '^(query_|nodes|schema_|table_versions|meta)'`,
  );
  const columns = tables.map(
    ({ name }) =>
      `(SELECT md5(string_agg(r, E'\\n' ORDER BY r)) FROM (SELECT (to_jsonb(t) ${facts})::text AS r FROM ${name} t) x) AS ${name}`,
  );
  const { rows } = await changing.database.query(`SELECT ${columns.join(', ')}`);
  return JSON.stringify(rows[0]);
}

/** Sends a request and cuts the database connection at one of its steps. */
async function sendAndCut(mutation: Mutation, cut: Cut): Promise<TestAnswer> {
  proxy.cutNext(cut);
  const answer = changing.send(mutation);
  if (cut !== 'hang') return answer;
  await proxy.hung();
  await lost.giveUpUnlessAnswering(1);
  return answer;
}

/** Expects that the change is stored although its COMMIT was not acknowledged. */
async function expectStored(route: Route, mutation: Mutation): Promise<void> {
  const audited = async (): Promise<number> =>
    (await changing.database.query(`SELECT FROM audit_log WHERE actor <> 'system'`)).rows.length;
  const before = await audited();
  await connect();
  const answer = await sendAndCut(mutation, 'after');
  expect([answer.status, answer.problem.error]).toEqual([503, 'outcome_unknown']);
  expect(answer.headers['retry-after']).toBeUndefined();
  await disconnect();
  expect(await audited()).toBe(before + entriesOf(route));
  // A deleted entity stays deleted.
  if (route.method !== 'DELETE' || route.params === undefined) return;
  expect([404, 204]).toContain((await changing.send(mutation)).status);
  expect(await audited()).toBe(before + 1);
}

/**
 * One route in this many gets a stalled connection: routes cannot distinguish a connection that is cut from one that
 * times out.
 */
const HANGS_EVERY = 8;
const rows = CHANGING.map((route, at) => ({
  name: `${route.method} ${route.path}`,
  route,
  cuts: at % HANGS_EVERY === 0 ? (['write', 'hang', 'before'] as const) : (['write', 'before'] as const),
}));

describe('a route that changes something', () => {
  test.each(rows)(
    '$name responds with 503 if the database is lost, and the change is stored completely or not at all',
    async ({ route, cuts }) => {
      const mutation = await changing.prepare(route);
      await changing.lists.idle();
      const before = await everyRow();
      const certificate = await changing.certificateFiles();
      for (const cut of cuts) {
        await connect();
        const answer = await sendAndCut(mutation, cut);
        const code = cut === 'before' ? 'outcome_unknown' : 'unavailable';
        expect([cut, answer.status, answer.problem.error]).toEqual([cut, 503, code]);
        expect(answer.headers['retry-after'] === undefined).toBe(cut === 'before');
        // The connection is now lost, unless the request first hashes a password or reads a file.
        if (cut === 'write' && !/^\/(?:users|import)$/.test(route.path))
          expect((await changing.send(mutation)).status).toBe(503);
        expect([cut, await everyRow()]).toEqual([cut, before]);
        // The certificate files are written last, and are kept if the COMMIT may have succeeded.
        if (cut !== 'before') expect(await changing.certificateFiles()).toBe(certificate);
        await disconnect();
      }
      await expectStored(route, mutation);
    },
  );
});
