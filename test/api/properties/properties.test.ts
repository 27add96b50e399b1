import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { everyRoute } from '../../support/parts/every-route.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../support/parts/suite-database.ts';
import { runProperties } from './property-run.ts';

let suite: SuiteDatabase;
let api: RunningApi;

beforeAll(async () => {
  suite = await openSuiteDatabase();
  api = await RunningApi.start(suite.database, everyRoute());
});
afterAll(async () => {
  await api.close();
  await suite.close();
});

test('randomly generated requests get documented responses, and no server error', async () => {
  const { faults, statuses } = await runProperties(api, 1500, 20_261_122);
  expect(faults).toEqual([]);
  expect(statuses[200]).toBeGreaterThan(100);
  expect(api.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
});
