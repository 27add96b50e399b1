/**
 * The dashboard as a browser loads it from a complete Weir server: built, compressed, cached, with its content policy.
 * Also its costs: bytes per view, requests while idle, and layout shifts. Times depend on the machine, so `npm run
 * bench -- dashboard` measures them.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'playwright-core';
import english from '../../control-plane/dashboard/src/i18n/en.json' with { type: 'json' };
import { expectAccessible } from '../support/browser/accessible.ts';
import { LAN_NAME } from '../support/browser/chromium.ts';
import { DashboardFixture } from '../support/browser/dashboard-fixture.ts';
import { hide } from '../support/browser/hidden-tab.ts';
import { countLoaded } from '../support/browser/loaded-files.ts';
import { followPath } from '../support/browser/page-steps.ts';
import { startSubPathProxy } from '../support/browser/sub-path-proxy.ts';
import type { SubPathProxy } from '../support/browser/sub-path-proxy.ts';
import { untilQuiet } from '../support/browser/watched-page.ts';
import type { Page } from '../support/browser/watched-page.ts';

let fixture: DashboardFixture;
let proxy: SubPathProxy;

beforeAll(async () => {
  fixture = await DashboardFixture.open({ nodeName: LAN_NAME });
  proxy = await startSubPathProxy('/weir', fixture.weir.webPort);
});
afterAll(async () => {
  await proxy.close();
  await fixture.close();
});

/** Opens a path and waits until the page has drawn something; returns what it has loaded. */
async function load(page: Page, path: string): Promise<Response[]> {
  const loaded: Response[] = [];
  page.on('response', (response) => loaded.push(response));
  await page.goto(path);
  await untilQuiet(page);
  return loaded;
}

/** The part of a URL after the origin. */
function pathOf(response: Response): string {
  return new URL(response.url()).pathname;
}

describe('the dashboard in a browser', () => {
  test.each(['/', '/queries?domain=example.org'])('the page at %s loads without faults', async (path) => {
    await fixture.withPage({}, async (page) => {
      const loaded = await load(page, path);
      expect(loaded.map(pathOf)).toEqual(
        expect.arrayContaining(['/svc-config.js', expect.stringMatching(/^\/assets\/.+\.js$/)]),
      );
      expect(await page.title()).toContain('Weir');
    });
  });

  test.each([
    ['scripts fail', '*'],
    ['first script loads but whose code fails', 'first-*'],
  ])('a page whose %s to load reports the failure and loads again', async (_, names) => {
    await fixture.withPage({ expected: [/ERR_CONNECTION_RESET/, /^thrown: $/] }, async (page) => {
      let isLost = true;
      await page.route(`**/assets/${names}.js`, (route) =>
        isLost ? route.abort('connectionreset') : route.continue(),
      );
      await page.goto('/');
      await page.getByText('The dashboard could not be loaded.').waitFor();
      isLost = false;
      await untilQuiet(page);
      expect(await page.getByText('The dashboard could not be loaded.').isVisible()).toBe(false);
    });
  });

  test('a page without a session has no axe findings', async () => {
    await fixture.withPage({ session: '' }, async (page) => {
      await load(page, '/');
      await expectAccessible(page);
    });
  });

  test('a page opened by a plain host name over HTTP loads without faults', async () => {
    const origin = `http://${LAN_NAME}:${fixture.weir.webPort}`;
    // Two header fields that are valid only over TLS; over HTTP, the browser reports that it ignores them.
    const expected = [/Cross-Origin-Opener-Policy header has been ignored/, /Origin-Agent-Cluster header/];
    await fixture.withPage({ session: '', origin, expected }, (page) => load(page, '/'));
  });

  test('scripts and styles are compressed with Brotli, and have the right media types', async () => {
    await fixture.withPage({}, async (page) => {
      // Chromium offers Brotli only to loopback addresses and over HTTPS.
      const loaded = await load(page, '/');
      const assets = loaded.filter((response) => pathOf(response).startsWith('/assets/'));
      expect(assets.length).toBeGreaterThan(1);
      for (const asset of assets)
        expect([pathOf(asset), await asset.headerValue('content-encoding'), asset.status()]).toEqual([
          pathOf(asset),
          'br',
          200,
        ]);
    });
  });

  test('a second visit revalidates the document and uses cached scripts and styles', async () => {
    await fixture.withPage({}, async (page) => {
      await load(page, '/');
      await load(page, '/');
      const sizes = Object.entries(await page.evaluate<Record<string, number>>(TRANSFERRED));
      const assets = sizes.filter(([path]) => path.startsWith('/assets/'));
      expect(assets.length).toBeGreaterThan(1);
      for (const asset of assets) expect(asset).toEqual([asset[0], 0]);
      // A 304 response has only header fields, which count as 300 bytes.
      const asked = sizes.filter(([path]) => path === '/' || path === '/svc-config.js');
      expect(asked).toEqual([
        ['/', 300],
        ['/svc-config.js', 300],
      ]);
    });
  });
});

/** Transferred bytes of each resource of the page. */
const TRANSFERRED = `Object.fromEntries(
  [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .map(({ name, transferSize }) => [new URL(name).pathname, transferSize]))`;

describe('the dashboard below the path of a reverse proxy', () => {
  test.each(['/weir/', '/weir/queries'])('%s loads all its resources from below the path', async (path) => {
    const expected = [/^401 GET \/weir\/api\//, /status of 401/];
    await fixture.withPage({ origin: proxy.origin, session: '', expected }, async (page) => {
      const loaded = await load(page, path);
      expect(loaded.length).toBeGreaterThan(3);
      for (const response of loaded) expect(pathOf(response)).toMatch(/^\/weir\//);
    });
  });
});

const KB = 1024;
/** Scripts of the first view after gzip, the worst case for a browser. The chart is loaded later. */
const FIRST_SCRIPTS_BYTES = 180 * KB;
/**
 * The script that sends the first requests, without compression. It is small, because it runs before the rest of the
 * code has arrived.
 */
const MAIN_SCRIPT_BYTES = 10 * KB;
/** Styles of the first view. */
const FIRST_STYLES_BYTES = 20 * KB;
/** Scripts that each other page adds. */
const PAGE_SCRIPTS_BYTES = 30 * KB;

/** If a message is missing, the page shows its key. */
const MESSAGE_KEYS = Object.keys(english);

const MINUTE_MS = 60_000;

/**
 * The clock of the page runs ahead of Weir's, so the page would consider the stream of Weir silent. The script replaces
 * the stream by a stream that sends a comment every second by the clock of the page.
 */
const STREAM_BY_OWN_CLOCK = `{
  const ask = fetch;
  globalThis.fetch = (url, init) => {
    if (!String(url).includes('/status/stream')) return ask(url, init);
    const start = (stream) => {
      const timer = setInterval(() => stream.enqueue(new TextEncoder().encode(':\\n\\n')), 1000);
      init.signal.addEventListener('abort', () => {
        clearInterval(timer);
        stream.error(new Error('aborted'));
      });
    };
    const headers = { 'Content-Type': 'text/event-stream' };
    return Promise.resolve(new Response(new ReadableStream({ start }), { headers }));
  };
}`;

/** Opens a page with a fake clock and waits for its content; returns the paths that it requests. */
async function openByOwnClock(page: Page, path: string, shown: string): Promise<string[]> {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.clock.install();
  await page.addInitScript(STREAM_BY_OWN_CLOCK);
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === shown);
  await page.goto(`./${path}`);
  await answered;
  await untilQuiet(page);
  return asked;
}

describe('the size and time budgets of the dashboard', () => {
  test('the first view and each further page stay within their budgets', async () => {
    await fixture.withPage({}, async (page) => {
      const loaded = countLoaded(page);
      await page.goto('./');
      await untilQuiet(page);
      const first = loaded.take();
      expect(first.scripts).toBeGreaterThan(0);
      expect(first.scripts).toBeLessThanOrEqual(FIRST_SCRIPTS_BYTES);
      expect(first.styles).toBeLessThanOrEqual(FIRST_STYLES_BYTES);
      const links = page.locator('nav').first().locator('a[href]:not([href="#main"])');
      // The first page with forms also loads the code of form fields, which most pages share.
      await followPath(page, 'more');
      const further: Record<string, number> = { '/more': loaded.take().scripts };
      for (const link of await links.all()) {
        await link.click();
        await untilQuiet(page);
        further[(await link.getAttribute('href'))!] = loaded.take().scripts;
      }
      const tooMuch = Object.entries(further).filter(([, bytes]) => bytes > PAGE_SCRIPTS_BYTES);
      expect(tooMuch).toEqual([]);
    });
  });

  test.each(['en', 'de'])(
    'the login and the overview need no messages of other pages in %s',
    async (language) => {
      for (const visitor of [{ session: '' }, {}])
        await fixture.withPage({ ...visitor, expected: [/ERR_FAILED/] }, async (page) => {
          await page.addInitScript(`localStorage.setItem('weir.language', '${language}')`);
          await page.route('**/assets/other-*.js', (route) => route.abort());
          await load(page, '/');
          const shown = await page.content();
          expect(MESSAGE_KEYS.filter((key) => shown.includes(key))).toEqual([]);
        });
    },
  );

  test('a page loads the messages of other pages again after a failure', async () => {
    await fixture.withPage({ expected: [/ERR_FAILED/] }, async (page) => {
      await page.route('**/assets/other-*.js', (route) => route.abort());
      await load(page, '/');
      await page.unroute('**/assets/other-*.js');
      await followPath(page, 'groups');
      await page.getByRole('button', { name: english['groups.add'] }).first().waitFor();
    });
  });

  test('the script that sends the first requests stays within its budget', async () => {
    await fixture.withPage({}, async (page) => {
      const main = (await load(page, '/')).find((response) => pathOf(response).startsWith('/assets/entry-'));
      expect((await main!.body()).length).toBeLessThanOrEqual(MAIN_SCRIPT_BYTES);
    });
  });

  test('no element of the overview moves while the page loads and while its figures change', async () => {
    await fixture.withPage({}, async (page) => {
      await page.addInitScript(`
        globalThis.shifts = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifts += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
      `);
      await page.goto('./');
      await untilQuiet(page);
      expect(await page.evaluate<number>('globalThis.shifts')).toBeLessThan(0.02);
    });
  });

  test.each([
    ['', '/api/dashboard'],
    ['queries', '/api/queries'],
  ])('/%s sends no requests while its tab is hidden', async (path, shown) => {
    await fixture.withPage({}, async (page) => {
      const asked = await openByOwnClock(page, path, shown);
      await hide(page);
      asked.length = 0;
      await page.clock.runFor(10 * MINUTE_MS);
      await untilQuiet(page);
      expect(asked).toEqual([]);
    });
  });

  test('the overview sends at most one request in ten seconds while it is visible', async () => {
    await fixture.withPage({}, async (page) => {
      const asked = await openByOwnClock(page, '', '/api/dashboard');
      asked.length = 0;
      await page.clock.runFor(2 * MINUTE_MS);
      await untilQuiet(page);
      expect(asked).toContain('/api/dashboard');
      expect(asked.length).toBeLessThanOrEqual(12);
    });
  });
});
