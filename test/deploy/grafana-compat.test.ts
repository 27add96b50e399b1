/**
 * The Grafana dashboard for the compatibility API: sends the request of each panel as the Infinity plugin does, and
 * checks that its selectors, which are JSONata as in the plugin, find values of the right types.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import jsonata from 'jsonata';
import { CompatSuite } from '../support/parts/compat-suite.ts';
import { loggedDay } from '../support/parts/logged-day.ts';
import { storeRows } from '../support/parts/stored-log.ts';

interface Column {
  readonly selector: string;
  readonly text: string;
  readonly type: 'string' | 'number' | 'timestamp_epoch_s';
}

interface Target {
  readonly url: string;
  readonly root_selector: string;
  readonly columns: readonly Column[];
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly Target[] }[];
}

const read = (file: string): string =>
  readFileSync(new URL(`../../deploy/grafana/${file}`, import.meta.url), 'utf8');
const dashboard = JSON.parse(read('weir-compat.json')) as Dashboard;
const targets = dashboard.panels.flatMap(({ title, targets: [target] }) => [[title, target!] as const]);
const [, keyHeader] = /apiKeyKey: (\S+)/.exec(read('provisioning/datasources/weir-compat.yaml'))!;

const compat = new CompatSuite();
let sid: string;
beforeEach(async () => {
  await compat.api.setUp();
  await storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs()));
  sid = await compat.logIn();
});

/** The values of each row, in the order of the columns. */
async function rowsOf({ url, root_selector, columns }: Target): Promise<unknown[][]> {
  const headers = { 'user-agent': 'Go-http-client/1.1', 'content-type': 'application/json' };
  const { status, body } = await compat.send('GET', url, { headers: { ...headers, [keyHeader!]: sid } });
  expect([url, status]).toEqual([url, 200]);
  const root: unknown = root_selector === '' ? body : await jsonata(root_selector).evaluate(body);
  const entries: unknown[] = Array.isArray(root) ? root : [root];
  const selectors = columns.map(({ selector }) => jsonata(selector));
  return Promise.all(
    entries.map((entry) => Promise.all(selectors.map((selector) => selector.evaluate(entry)))),
  );
}

const JS_TYPES = { string: 'string', number: 'number', timestamp_epoch_s: 'number' } as const;

describe('weir-compat.json, the Grafana dashboard for the compatibility API,', () => {
  test('has data in every panel, from the last day and of the declared types', async () => {
    for (const [title, target] of targets) {
      const rows = await rowsOf(target);
      const types = target.columns.map(({ type }) => JS_TYPES[type]);
      expect([title, rows.length > 0]).toEqual([title, true]);
      for (const row of rows) expect([title, row.map((value) => typeof value)]).toEqual([title, types]);
      const times = target.columns.flatMap(({ type }, column) =>
        type === 'timestamp_epoch_s' ? rows.map((row) => row[column] as number) : [],
      );
      const daysAgo = times.map((secs) => (compat.api.clock.nowMs() / 1000 - secs) / 86_400);
      expect([title, daysAgo.filter((days) => days < -0.01 || days > 1.01)]).toEqual([title, []]);
    }
  });

  test('shows sums that equal the sums of their parts', async () => {
    const rows = async (title: string): Promise<unknown[][]> =>
      rowsOf(targets.find(([name]) => name === title)![1]);
    const [[total], [blocked], [cached], [forwarded]] = (await Promise.all(
      ['Queries', 'Blocked', 'From the cache', 'Forwarded'].map(async (title) => (await rows(title))[0]!),
    )) as [number[], number[], number[], number[]];
    const sum = (found: unknown[][], column: number): number =>
      found.reduce((all, row) => all + (row[column] as number), 0);
    const history = await rows('Queries by outcome');
    expect([1, 2, 3].map((column) => sum(history, column))).toEqual([blocked, cached, forwarded]);
    for (const title of ['Types', 'Status', 'Replies']) expect(sum(await rows(title), 1)).toBe(total);
  });
});
