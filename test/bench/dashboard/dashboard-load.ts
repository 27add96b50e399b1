// `npm run bench -- dashboard-load`: cost of open dashboards for DNS. A saturated Weir on one core is measured
// alternately without pages and with ten pages, one of which follows the log. The browser shares the generator's core.
import type { Browser, BrowserContext } from 'playwright-core';
import { openBrowser } from '../../support/browser/chromium.ts';
import { type Bench, ROOT, stageOf, withBench } from '../bench.ts';
import { gatherMaterial } from '../material/material.ts';
import { parseOptions } from '../options.ts';
import { readOwnNumbers, runBench } from '../own-options.ts';
import { pinThread } from '../process/child.ts';
import type { Run } from '../report/figures.ts';
import { type Goal, goalTable } from '../report/goal.ts';
import { quantile } from '../report/quantile.ts';
import { alignColumns } from '../report/table.ts';
import { measure, startServer, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import type { WeirApi } from '../servers/weir-api.ts';
import { saturatedMix } from '../suites/mix.ts';

const HELP = `npm run bench -- dashboard-load [options]

  --turns N   turns without pages and with them (5)
  --pages N   open pages, the first of which follows the log (10)
  --secs N, --names N, --base-port N, --server-core N, --load-core N, --seed N, --keep   as of npm run bench
`;
const DEFAULTS = { turns: 5, pages: 10 };
const MAX_CPU_RATIO = 1.02;

async function dashboardLoad(bench: Bench, { turns, pages }: typeof DEFAULTS): Promise<void> {
  const material = gatherMaterial(ROOT, bench.options.names, bench.options.seed);
  const stage = stageOf(bench, material);
  const workload = saturatedMix(bench, material, 'dashboard-load');
  const running = await startServer(stage, weirContestant(ROOT, { name: 'weir-dashboard' }), 0, true);
  await warmAndCheck(stage, running, workload);
  // Child processes inherit the core of this process.
  pinThread(process.pid, bench.options.loadCore);
  const browser = await openBrowser();
  const alone: Run[] = [];
  const beside: Run[] = [];
  try {
    for (let turn = 0; turn < turns; turn++) {
      alone.push(await measure(stage, running, workload, turn, undefined));
      const opened = await openPages(browser, running.api!, pages);
      beside.push(await measure(stage, running, workload, turn, undefined));
      await opened.close();
    }
  } finally {
    await browser.close();
  }
  await running.child.stop();
  report(alone, beside, pages);
}

/** Opens the pages in one context, and waits until each has drawn its content. */
async function openPages(
  browser: Browser,
  { credentials: { port, cookie } }: WeirApi,
  pages: number,
): Promise<BrowserContext> {
  const url = `http://127.0.0.1:${String(port)}`;
  const context = await browser.newContext({ baseURL: url });
  const [name, value] = cookie.split('=') as [string, string];
  await context.addCookies([{ name, value, url }]);
  for (let i = 0; i < pages; i++) {
    const page = await context.newPage();
    await page.goto(i === 0 ? '/queries' : '/');
    await page.locator('h1').waitFor();
  }
  return context;
}

function report(alone: readonly Run[], beside: readonly Run[], pages: number): void {
  const workersUs = ({ threadGroupsCpuUs }: Run): number => threadGroupsCpuUs['workers']!;
  const line = (name: string, runs: readonly Run[]): string[] => {
    const median = (of: (run: Run) => number): number => quantile(runs.map(of), 0.5);
    const lost = runs.reduce((sum, run) => sum + run.lost, 0);
    return [
      name,
      median(({ qps }) => qps).toFixed(0),
      median(workersUs).toFixed(3),
      median(({ cpuUs }) => cpuUs).toFixed(3),
      String(lost),
    ];
  };
  console.log(
    alignColumns([
      ['', 'answers/s', 'workers us', 'all us', 'lost'],
      line('without pages', alone),
      line(`with ${String(pages)} pages`, beside),
    ]),
  );
  // Ratios are computed within a turn, because both runs of a turn had the same conditions.
  const ratios = beside.map((run, turn) => workersUs(run) / workersUs(alone[turn]!));
  const goals: Goal[] = [
    {
      what: 'CPU of the workers per answer, with pages to without',
      measured: quantile(ratios, 0.5),
      unit: '',
      atMost: MAX_CPU_RATIO,
    },
    {
      what: 'answers lost with pages',
      measured: beside.reduce((sum, { lost }) => sum + lost, 0),
      unit: '',
      atMost: 0,
    },
  ];
  console.log(goalTable(goals));
}

await runBench(async (args) => {
  const read = readOwnNumbers(args, DEFAULTS);
  if (read === null) console.log(HELP);
  else await withBench(parseOptions(read.rest), (bench) => dashboardLoad(bench, read.own));
});
