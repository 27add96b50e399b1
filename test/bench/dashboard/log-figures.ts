// Cost of the query log in the browser: scrolling 50,000 rows, and a live tail with many queries per second for several
// minutes.
import { createSocket } from 'node:dgram';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { BALANCER } from '../../demo/live-traffic.ts';
import { drawQuestion, HOUSEHOLD } from '../../demo/household.ts';
import type { Demo } from '../../demo/running-demo.ts';
import { query } from '../../support/dns/dns-message.ts';
import { headerFor } from '../../support/parts/proxy-headers.ts';
import type { Figure } from './figure.ts';
import { MeasuredPage } from './measured-page.ts';

const ROWS = 50_000;
const MAX_ELEMENTS = 80;
const MAX_FRAME_MS = 50;
const MAX_HEAP_MB = 60;
const MAX_GROWTH_MB = 5;
const SCROLLED_PX = 1600;
const TURN_MS = 20;
/** Warm-up before the tail is measured: code is compiled, and the maximum number of rows is reached. */
const WARMUP_MS = 20_000;

/** Scrolls by one screen per frame until this many rows have passed; records elements and frames. */
const SCROLL = `(async () => {
  const grid = document.querySelector('[role="grid"]');
  const result = { elements: 0, gapMs: 0, frames: 0 };
  let last = performance.now();
  for (let still = 0; Number(grid.getAttribute('aria-rowcount')) < ${ROWS} || still < 5;) {
    scrollBy({ top: ${SCROLLED_PX}, behavior: 'instant' });
    const now = await new Promise((next) => requestAnimationFrame(next));
    result.gapMs = Math.max(result.gapMs, now - last);
    last = now;
    result.frames++;
    result.elements = Math.max(result.elements, grid.querySelectorAll('[data-index]').length);
    if (Number(grid.getAttribute('aria-rowcount')) >= ${ROWS}) still++;
  }
  return result;
})()`;

/** Scrolls over the rows of the log. */
export async function scrollFigures(browser: Browser, demo: Demo, rounds: number): Promise<Figure[]> {
  const elements: number[] = [];
  const tasks: number[] = [];
  const frames: number[] = [];
  const heap: number[] = [];
  for (let round = 0; round < rounds; round++)
    await MeasuredPage.with({ browser, demo, profile: 'desktop' }, async (measured) => {
      await measured.page.goto('./queries?live=off');
      await measured.settle();
      await measured.clear();
      const scrolled = await measured.page.evaluate<{ elements: number }>(SCROLL);
      const { longestTaskMs, longestFrameMs } = await measured.seen();
      elements.push(scrolled.elements);
      tasks.push(longestTaskMs);
      frames.push(longestFrameMs);
      heap.push(await measured.heapMb());
    });
  return [
    { what: `${ROWS} rows: row elements`, unit: '', values: elements, budget: MAX_ELEMENTS },
    { what: `${ROWS} rows: longest frame (0 = below 50)`, unit: 'ms', values: frames, budget: MAX_FRAME_MS },
    { what: `${ROWS} rows: longest task (0 = below 50)`, unit: 'ms', values: tasks, budget: MAX_FRAME_MS },
    { what: `${ROWS} rows: heap`, unit: 'MB', values: heap, budget: MAX_HEAP_MB },
  ];
}

/** Measures the tail at this many queries per second. */
export async function tailFigures(
  browser: Browser,
  demo: Demo,
  { rateQps, secs }: { readonly rateQps: number; readonly secs: number },
): Promise<Figure[]> {
  const stop = sendQueries(demo.weir.dnsPort, rateQps);
  try {
    return await MeasuredPage.with({ browser, demo, profile: 'desktop' }, async (measured) => {
      await measured.page.goto('./queries');
      await measured.settle();
      await delay(WARMUP_MS);
      const before = await measured.heapMb();
      await measured.clear();
      const queriesBefore = await demo.api.queryCount();
      await delay(secs * 1000);
      const { longestTaskMs, longTasks } = await measured.seen();
      const rate = ((await demo.api.queryCount()) - queriesBefore) / secs;
      const heap = await measured.heapMb();
      return [
        { what: 'tail: queries a second', unit: '', values: [rate] },
        {
          what: 'tail: longest task (0 = below 50)',
          unit: 'ms',
          values: [longestTaskMs],
          budget: MAX_FRAME_MS,
        },
        { what: 'tail: tasks of 50 ms and more', unit: '', values: [longTasks] },
        { what: 'tail: heap', unit: 'MB', values: [heap] },
        { what: 'tail: growth of the heap', unit: 'MB', values: [heap - before], budget: MAX_GROWTH_MB },
      ];
    });
  } finally {
    stop();
  }
}

/** Sends queries of the household's devices at a steady rate; returns a function that stops the queries. */
function sendQueries(dnsPort: number, rateQps: number): () => void {
  const socket = createSocket('udp4');
  socket.on('message', () => undefined);
  socket.on('error', () => undefined);
  socket.bind(0, BALANCER);
  const startedMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    for (const due = ((performance.now() - startedMs) / 1000) * rateQps; sent < due; sent++) {
      const device = HOUSEHOLD[sent % HOUSEHOLD.length]!;
      const { name, qtype } = drawQuestion(device, Math.random);
      const message = query(name, qtype, { id: sent & 0xffff });
      socket.send(Buffer.concat([headerFor(device.address), message]), dnsPort, '127.0.0.1', () => undefined);
    }
  }, TURN_MS);
  return () => {
    clearInterval(timer);
    socket.close();
  };
}
