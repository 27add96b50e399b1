// A page of the demo that is measured: performance observers, CPU and network profile, heap. It makes no assertions.
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import type { Demo } from '../../demo/running-demo.ts';

/** A mid-range phone on a mobile network; a desktop without throttling. */
export type Profile = 'phone' | 'desktop';

const CPU_SLOWDOWN = 4;
const LATENCY_MS = 40;
const BYTES_PER_SEC = 10_000_000 / 8;
const SIZES = { phone: { width: 390, height: 780 }, desktop: { width: 1440, height: 900 } } as const;
const TIMEOUT_MS = 60_000;

/** Records the activity of the page from its start. */
const OBSERVERS = `
  globalThis.seen = { lcpMs: 0, shift: 0, longestTaskMs: 0, longTasks: 0, slowestEventMs: 0, longestFrameMs: 0 };
  const watch = (type, take, more = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...more });
  watch('largest-contentful-paint', ({ startTime }) => (seen.lcpMs = startTime));
  watch('layout-shift', ({ value, hadRecentInput }) => (seen.shift += hadRecentInput ? 0 : value));
  watch('longtask', ({ duration }) => {
    seen.longTasks++;
    seen.longestTaskMs = Math.max(seen.longestTaskMs, duration);
  });
  watch('long-animation-frame', ({ duration }) => (seen.longestFrameMs = Math.max(seen.longestFrameMs, duration)));
  watch('event', ({ duration, interactionId }) => {
    if (interactionId > 0) seen.slowestEventMs = Math.max(seen.slowestEventMs, duration);
  }, { durationThreshold: 16 });
`;

/**
 * Activity of the page so far. The browser reports no tasks and frames below 50 ms and no events below 16 ms; these
 * count as 0.
 */
export interface Seen {
  readonly lcpMs: number;
  readonly shift: number;
  readonly longestTaskMs: number;
  readonly longTasks: number;
  /** Milliseconds from a tap until the next frame. */
  readonly slowestEventMs: number;
  readonly longestFrameMs: number;
}

/** A page whose loading is measured. */
export class MeasuredPage {
  readonly page: Page;
  readonly devTools: CDPSession;

  private constructor(page: Page, devTools: CDPSession) {
    this.page = page;
    this.devTools = devTools;
  }

  /** Opens a page with an empty cache, passes it to `use`, and closes it. */
  static async with<T>(
    { browser, demo, profile }: { browser: Browser; demo: Demo; profile: Profile },
    use: (measured: MeasuredPage) => Promise<T>,
  ): Promise<T> {
    const context = await openContext(browser, demo, profile);
    try {
      const page = await context.newPage();
      const devTools = await context.newCDPSession(page);
      await devTools.send('Performance.enable');
      if (profile === 'phone') await slowDown(devTools);
      return await use(new MeasuredPage(page, devTools));
    } finally {
      await context.close();
    }
  }

  /** Waits until there are no more requests and nothing changes on the page. */
  async settle(): Promise<void> {
    await this.page.waitForSelector('h1');
    await this.page.waitForSelector('main [aria-busy="true"]', { state: 'detached' });
    for (let frame = 0; frame < 4; frame++)
      await this.page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 50)))');
  }

  seen(): Promise<Seen> {
    return this.page.evaluate<Seen>('globalThis.seen');
  }

  /** Clears the events and tasks recorded so far. */
  async clear(): Promise<void> {
    await this.page.evaluate(
      'Object.assign(seen, { longestTaskMs: 0, longTasks: 0, slowestEventMs: 0, longestFrameMs: 0 })',
    );
  }

  /** Used heap after a full garbage collection, MB. */
  async heapMb(): Promise<number> {
    await this.devTools.send('HeapProfiler.collectGarbage');
    const { metrics } = await this.devTools.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value / 1e6;
  }
}

async function openContext(browser: Browser, demo: Demo, profile: Profile): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: demo.origin,
    viewport: SIZES[profile],
    locale: 'en-GB',
    isMobile: profile === 'phone',
    hasTouch: profile === 'phone',
    deviceScaleFactor: profile === 'phone' ? 2 : 1,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  await context.addInitScript(OBSERVERS);
  await context.addCookies([
    { name: 'svc_session', value: demo.api.session, url: demo.origin, sameSite: 'Strict' },
  ]);
  return context;
}

async function slowDown(devTools: CDPSession): Promise<void> {
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  await devTools.send('Network.enable');
  await devTools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_SEC,
    uploadThroughput: BYTES_PER_SEC,
  });
}
