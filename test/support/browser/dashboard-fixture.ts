/**
 * A complete Weir server and a browser for the suites of the dashboard: an upstream that resolves every name, a
 * password, a few queried names, some of them blocked, and a session. Each suite opens a separate fixture.
 */
import type { Browser } from 'playwright-core';
import { UdpClient } from '../dns/dns-client.ts';
import { startEchoingUpstream } from '../dns/echoing-upstream.ts';
import { PASSWORD } from '../weir/api-client.ts';
import type { ApiClient } from '../weir/api-client.ts';
import { httpCall } from '../weir/http-call.ts';
import { holdNetwork } from '../weir/machine-network.ts';
import { Weir } from '../weir/weir-process.ts';
import type { WeirOptions } from '../weir/weir-process.ts';
import { openBrowser } from './chromium.ts';
import { withPage } from './watched-page.ts';
import type { Page, PageOptions } from './watched-page.ts';

export { PASSWORD };

/** The address in answers for blocked names. */
export const BLOCKED = '0.0.0.0';
/** Names that are queried when a `DashboardFixture` opens, and a blocked name. */
export const ASKED_NAMES: readonly string[] = [
  ...['www.example.org', 'mail.example.org', 'news.example.net', 'cdn.example.net', 'time.example.com'],
  'very-long-name-of-a-host-that-does-not-fit.of-a-department.of-an-organisation.example.org',
];
export const BLOCKED_NAME = 'ads.tracker.example';

/** A Weir server with the dashboard, and a browser that shows it. */
export class DashboardFixture {
  readonly weir: Weir;
  readonly api: ApiClient;
  /** Session of the administrator. Pages use it unless the caller passes another. */
  readonly session: string;
  private readonly browser: Browser;
  /** Stops all parts. */
  private readonly stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<DashboardFixture, 'weir' | 'api' | 'session'>,
    browser: Browser,
    stack: AsyncDisposableStack,
  ) {
    this.weir = parts.weir;
    this.api = parts.api;
    this.session = parts.session;
    this.browser = browser;
    this.stack = stack;
  }

  /**
   * Starts all parts, then queries the names in `asked`. If a part fails to start, stops the parts that have started.
   */
  static async open(
    options: WeirOptions = {},
    asked: readonly string[] = [...ASKED_NAMES, BLOCKED_NAME],
  ): Promise<DashboardFixture> {
    await using stack = new AsyncDisposableStack();
    stack.defer(await holdNetwork('shared'));
    const upstream = stack.use(await startEchoingUpstream());
    const starts = [
      Weir.start({ upstreams: [`127.0.0.1:${upstream.port}`], ...options }).then((it) => stack.use(it)),
      openBrowser().then((it) => stack.use(it)),
    ] as const;
    // If Weir or the browser fails to start, the other may still be starting and must also be stopped.
    await Promise.allSettled(starts);
    const [weir, browser] = await Promise.all(starts);
    const api = await weir.api();
    const session = await logIn(weir, 'admin');
    await api.expect(201, 'POST', '/managed-domains', { domain: BLOCKED_NAME });
    await ask(weir, asked);
    await api.untilQueryCount(asked.length);
    return new DashboardFixture({ weir, api, session }, browser, stack.move());
  }

  /** URL of the dashboard. */
  get origin(): string {
    return `http://127.0.0.1:${this.weir.webPort}`;
  }

  /** Queries the A record of each name over UDP from a local address; returns the addresses. */
  ask(names: readonly string[], from?: string): Promise<unknown[]> {
    return ask(this.weir, names, from);
  }

  /** Queries the A record of a name until the log contains it. */
  async askLogged(name: string): Promise<void> {
    await this.ask([name]);
    await this.api.untilQueryCount(1, `domain=${name}`);
  }

  /** Creates a session and returns its secret. */
  logIn(username = 'admin'): Promise<string> {
    return logIn(this.weir, username);
  }

  /**
   * Opens a page and passes it to `use`. The page is logged in unless `session` is empty, and loads this Weir server
   * unless `origin` is given.
   */
  async withPage<T>(
    { origin = this.origin, session = this.session, ...options }: PageOptions & { readonly origin?: string },
    use: (page: Page) => Promise<T>,
  ): Promise<T> {
    return withPage(this.browser, origin, session === '' ? options : { ...options, session }, use);
  }

  close(): Promise<void> {
    return this.stack.disposeAsync();
  }
}

async function ask({ dnsPort }: Weir, names: readonly string[], from = '127.0.0.1'): Promise<unknown[]> {
  using udp = await UdpClient.open(dnsPort, '127.0.0.1', from);
  const replies = await Promise.all(names.map((name) => udp.ask(name, 'A')));
  return replies.map(({ data }) => data[0]);
}

async function logIn({ webPort }: Weir, username: string): Promise<string> {
  const url = `http://127.0.0.1:${webPort}/api/auth/login`;
  const { headers, text } = await httpCall('POST', url, { username, password: PASSWORD });
  const secret = /svc_session=([^;]+)/.exec(String(headers['set-cookie']))?.[1];
  if (secret === undefined) throw new Error(`log in: ${text}`);
  return secret;
}
