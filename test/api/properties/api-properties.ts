/** Many made-up requests to every operation. Usage: npm run fuzz -- api [--requests 20000] [--seed 1] */
import { parseArgs } from 'node:util';
import { everyRoute } from '../../support/parts/every-route.ts';
import { RunningApi } from '../../support/parts/running-api.ts';
import { openSuiteDatabase } from '../../support/parts/suite-database.ts';
import { runProperties } from './property-run.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const suite = await openSuiteDatabase();
const api = await RunningApi.start(suite.database, everyRoute());
const startMs = performance.now();
const { requests, statuses, faults } = await runProperties(api, Number(values.requests), Number(values.seed));
const secs = ((performance.now() - startMs) / 1000).toFixed(1);
await api.close();
await suite.close();
const kinds = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
process.stdout.write(
  `${requests} requests, seed ${values.seed}, ${secs} s; ${kinds.join(', ')}; ${faults.length} faults\n`,
);
for (const fault of faults.slice(0, 50)) process.stdout.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
