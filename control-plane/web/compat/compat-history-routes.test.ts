import { beforeEach, describe, expect, test } from '@jest/globals';
import { CompatSuite } from '../../../test/support/parts/compat-suite.ts';
import { CLIENTS, loggedDay } from '../../../test/support/parts/logged-day.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import type { CompatSummary } from '../../../shared/api/compat/compat-api.ts';
import type { CompatClientHistory, CompatHistory } from '../../../shared/api/compat/compat-log-api.ts';

const compat = new CompatSuite({ toml: 'auth.enabled = false' });
beforeEach(() => storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs())));

describe('the history of clients in the compatibility API', () => {
  test('has totals that add up to the total history', async () => {
    const { queries } = await compat.open<CompatSummary>('/api/stats/summary');
    const { history } = await compat.open<CompatHistory>('/api/history');
    for (const query of ['', '?N=0', '?N=2', '?N=1']) {
      const found = await compat.open<CompatClientHistory>(`/api/history/clients${query}`);
      const totals = Object.entries(found.clients);
      expect(totals.reduce((sum, [, { total }]) => sum + total, 0)).toBe(queries.total);
      for (const [ip, { total }] of totals)
        expect(found.history.reduce((sum, { data }) => sum + data[ip]!, 0)).toBe(total);
      expect(
        found.history.map(({ timestamp, data }) => [
          timestamp,
          Object.values(data).reduce((a, b) => a + b, 0),
        ]),
      ).toEqual(history.map(({ timestamp, total }) => [timestamp, total]));
    }
  });

  test('has a row for other clients only if there are more clients than requested', async () => {
    const namesOf = async (query: string): Promise<string[]> =>
      Object.keys((await compat.open<CompatClientHistory>(`/api/history/clients${query}`)).clients);
    expect((await namesOf('?N=0')).sort()).toEqual([...CLIENTS]);
    expect(await namesOf('?N=1')).toEqual([expect.stringMatching(/^192/), 'others']);
    expect((await namesOf('?N=x')).sort()).toEqual([...CLIENTS]);
  });
});
