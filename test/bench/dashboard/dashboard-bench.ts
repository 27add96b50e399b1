// `npm run bench -- dashboard`: cost of the dashboard for its users, in a real browser with the demo: bytes, times on a
// phone, a log with many old and many new rows, requests while idle. Each figure is shown with its budget.
import { openBrowser } from '../../support/browser/chromium.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { Demo } from '../../demo/running-demo.ts';
import { readOwnNumbers, runBench } from '../own-options.ts';
import { figuresTable } from './figure.ts';
import type { Figure } from './figure.ts';
import { idleFigures, sizeFigures } from './load-figures.ts';
import { scrollFigures, tailFigures } from './log-figures.ts';
import { phoneFigures } from './phone-figures.ts';

const HELP = `npm run bench -- dashboard [options]

  --rounds N   rounds of each time measurement (5)
  --secs N     seconds of measuring the live tail (300)
  --rate N     queries per second in that time (1000)
`;
const DEFAULTS = { rounds: 5, secs: 300, rate: 1000 };
const DAYS = 1.5;
const PER_DAY = 60_000;

async function main(args: string[]): Promise<void> {
  const read = readOwnNumbers(args, DEFAULTS);
  if (read === null) {
    console.log(HELP);
    return;
  }
  const { rounds, secs, rate: rateQps } = read.own;
  const tempDir = makeTempDir();
  const [web, lists, dns] = await Promise.all([1, 2, 3].map(() => freePort(['127.0.0.1'])));
  const ports = { web: web!, lists: lists!, dns: dns! };
  const demo = await Demo.open({ dir: tempDir.path, ports, days: DAYS, perDay: PER_DAY });
  const browser = await openBrowser();
  const show = async (figures: Promise<Figure[]>): Promise<void> => console.log(figuresTable(await figures));
  try {
    await show(sizeFigures(browser, demo));
    await show(idleFigures(browser, demo));
    await show(phoneFigures(browser, demo, rounds));
    await show(scrollFigures(browser, demo, rounds));
    await show(tailFigures(browser, demo, { rateQps, secs }));
  } finally {
    await browser.close();
    await demo.close();
    tempDir.remove();
  }
}

await runBench(main);
