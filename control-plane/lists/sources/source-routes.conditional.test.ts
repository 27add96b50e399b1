/** Edits of list sources over HTTP at a complete node: `If-Match`, and sending back a source that was read. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import { addList, serveLists } from '../../../test/support/parts/list-suite.ts';
import { kindsOf, type ListNode, type RunningLists } from '../../../test/support/parts/running-lists.ts';
import { RunningApi } from '../../../test/support/parts/running-api.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';
import { sourceRoutes } from './source-routes.ts';

let running: RunningLists;
let node: ListNode;
let api: RunningApi;
let path: string;

serveLists((opened) => (running = opened));
beforeEach(async () => {
  node = await running.startNode();
  api = await RunningApi.start(running.database, () => sourceRoutes({ sources: node.all }));
  path = `/api/blocklist-sources/${await addList(node, running.serve('/a', 'a.example\n', '"1"'))}`;
});
afterEach(() => api.close());

const read = (): Promise<TestAnswer> => api.send('GET', path);
const put = (json: unknown, ifMatch?: string | string[]): Promise<TestAnswer> =>
  api.send('PUT', path, { json, headers: ifMatch === undefined ? {} : { 'if-match': String(ifMatch) } });

async function revisions(): Promise<number> {
  const { rows } = await running.database.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM revisions',
  );
  return rows[0]!.count;
}

describe('a blocklist source over the API of a running node', () => {
  test('is changed with its current ETag, and not with an older one', async () => {
    const { body, headers } = await read();
    const edited = await put({ ...BlocklistSource.parse(body), enabled: false }, headers['etag']);
    expect([edited.status, edited.headers['etag']]).toEqual([200, (await read()).headers['etag']]);
    expect(kindsOf(node, 'a.example')).toBe(0);
    const before = await revisions();
    const stale = await put({ enabled: true }, headers['etag']);
    expect([stale.status, stale.problem.error]).toEqual([412, 'precondition_failed']);
    expect([kindsOf(node, 'a.example'), await revisions()]).toEqual([0, before]);
    expect((await put({ enabled: true }, edited.headers['etag'])).status).toBe(200);
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('accepts exactly one of two changes with the same ETag', async () => {
    const { headers } = await read();
    const before = await revisions();
    const edits = ['one', 'two'].map((comment) => put({ comment }, headers['etag']));
    expect((await Promise.all(edits)).map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(await revisions()).toBe(before + 1);
  });

  test('keeps its ETag and rules, and creates no revision, if it is sent back unchanged', async () => {
    const { body, headers } = await read();
    const before = await revisions();
    const answer = await put(body, headers['etag']);
    expect([answer.status, answer.headers['weir-revision']]).toEqual([200, undefined]);
    await node.all.idle();
    expect(await revisions()).toBe(before);
    expect((await read()).headers['etag']).toBe(headers['etag']);
    expect(kindsOf(node, 'a.example')).toBe(1);
  });
});
