/**
 * A page of the browser in which console messages, exceptions, violations of the content policy and failed loads count
 * as faults of the test unless it expects them. A failing test saves a screenshot in data/browser/, and with
 * `WEIR_TEST_TRACE=1` a trace (`playwright show-trace`).
 */
import { expect } from '@jest/globals';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { until, WAIT_MS } from '../parts/until.ts';
import type { Browser, BrowserContext, ConsoleMessage, Page, Request, Response } from 'playwright-core';

export type { Page };

/** Options of a page. */
export interface PageOptions {
  /** Size of the window in CSS pixels; desktop size by default. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Colour scheme; `light` by default. */
  readonly theme?: 'light' | 'dark';
  /** Locale of the browser; `en-GB` by default. */
  readonly locale?: string;
  /** Whether the page has touch input, like a phone. */
  readonly isTouched?: boolean;
  /** `prefers-reduced-motion`. */
  readonly isCalm?: boolean;
  /** Secret of a session. */
  readonly session?: string;
  /** Expected faults: console messages, and `STATUS METHOD PATH` of responses. */
  readonly expected?: readonly RegExp[];
}

/** The window sizes that the dashboard supports. */
export const Viewport = {
  phone: { width: 360, height: 740 },
  tablet: { width: 820, height: 1180 },
  desktop: { width: 1440, height: 900 },
} as const;

/** Recording traces costs a sixth of the CPU time of these suites, so it is off by default. */
export const RECORDS_PAGES = process.env['WEIR_TEST_TRACE'] === '1';

const PICTURES = join(import.meta.dirname, '..', '..', '..', 'data', 'browser');

/**
 * Opens a page of `origin`, passes it to `use`, and closes it. Rejects if the page, or a page that it opened, raised an
 * error.
 */
export async function withPage<T>(
  browser: Browser,
  origin: string,
  options: PageOptions,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await openContext(browser, origin, options);
  const name = (expect.getState().currentTestName ?? 'page').replaceAll(/[^\w-]+/g, '-').slice(0, 100);
  try {
    if (RECORDS_PAGES) await context.tracing.start({ snapshots: true, screenshots: false });
    context.setDefaultTimeout(WAIT_MS);
    const faults: string[] = [];
    context.on('page', (opened) => {
      watch(opened, faults);
      countRequests(opened);
    });
    const page = await context.newPage();
    try {
      const result = await use(page);
      expect(faults.filter((fault) => !(options.expected ?? []).some((one) => one.test(fault)))).toEqual([]);
      if (RECORDS_PAGES) await context.tracing.stop();
      return result;
    } catch (error) {
      await keep(page, context, name);
      // Adds errors of the page, because they explain why a wait of the test failed.
      if (error instanceof Error && faults.length > 0) error.message += `\n\nThe page: ${faults.join('\n')}`;
      throw error;
    }
  } finally {
    await context.close();
  }
}

async function openContext(browser: Browser, origin: string, options: PageOptions): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: options.viewport ?? Viewport.desktop,
    colorScheme: options.theme ?? 'light',
    locale: options.locale ?? 'en-GB',
    timezoneId: 'UTC',
    hasTouch: options.isTouched ?? false,
    isMobile: options.isTouched ?? false,
    reducedMotion: options.isCalm === true ? 'reduce' : 'no-preference',
    serviceWorkers: 'block',
  });
  if (options.session !== undefined)
    await context.addCookies([
      { name: 'svc_session', value: options.session, url: origin, httpOnly: true, sameSite: 'Strict' },
    ]);
  return context;
}

/** Records the faults of the page. */
function watch(page: Page, faults: string[]): void {
  page.on('console', (message: ConsoleMessage) => {
    const kind = message.type();
    if (kind !== 'error' && kind !== 'warning') return;
    faults.push(
      `console ${kind}: ${message.text()} (${new URL(message.location().url || 'about:blank').pathname})`,
    );
  });
  page.on('pageerror', (error: Error) => faults.push(`thrown: ${error.stack ?? error.message}`));
  page.on('requestfailed', (request: Request) => {
    const reason = request.failure()?.errorText ?? '';
    // The page aborted the request, for example a stream that is no longer displayed.
    if (reason === 'net::ERR_ABORTED') return;
    faults.push(`${reason} ${request.method()} ${new URL(request.url()).pathname}`);
  });
  page.on('response', (response: Response) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400)
      faults.push(`${response.status()} ${response.request().method()} ${pathname}`);
  });
}

/** Pending requests of each page. Streams do not count. */
const pending = new WeakMap<Page, Set<Request>>();

function countRequests(page: Page): void {
  const open = new Set<Request>();
  pending.set(page, open);
  page.on('request', (request: Request) => {
    if (request.resourceType() !== 'eventsource' && !request.url().includes('/stream')) open.add(request);
  });
  page.on('requestfinished', (request: Request) => void open.delete(request));
  page.on('requestfailed', (request: Request) => void open.delete(request));
}

/**
 * Waits until the page has drawn something and all its requests are answered. On a time-out, rejects with the pending
 * requests.
 */
export async function untilQuiet(page: Page): Promise<void> {
  await page.waitForSelector('#root > *', { state: 'attached' });
  const open = pending.get(page)!;
  let quiet = 0;
  // Once a response is drawn, the page may send more requests.
  await until(
    `a quiet page ${page.url()}`,
    async () => {
      await page.evaluate(DRAWN);
      const isWhole = !(await isLoading(page));
      quiet = isWhole && open.size === 0 ? quiet + 1 : 0;
      return { isWhole, quiet, missing: Array.from(open, (one) => `${one.method()} ${one.url()}`) };
    },
    () => quiet >= 2,
    { pauseMs: 0 },
  );
}

/** Resolves after the next frame; a headless browser may skip one. */
const DRAWN = `new Promise((drawn) => {
  requestAnimationFrame(() => setTimeout(drawn));
  setTimeout(drawn, 1000);
})`;

/** Whether a skeleton is still shown in place of content. */
async function isLoading(page: Page): Promise<boolean> {
  return (await page.locator('[aria-busy="true"]').count()) > 0;
}

async function keep(page: Page, context: BrowserContext, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  // The failure may have closed the page.
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true }).catch(() => undefined);
  if (RECORDS_PAGES)
    await context.tracing.stop({ path: join(PICTURES, `${name}.zip`) }).catch(() => undefined);
}
