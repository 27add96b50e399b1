/** Weir with a real OpenID provider, and browsers that log in through this provider. */
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { UserList } from '../../../shared/api/users-api.ts';
import { AuthSuite } from './auth-suite.ts';
import { OpenIdProvider, type Person, TestBrowser } from './openid-provider.ts';

/** Lines of the configuration that map claims to roles. */
export const ROLES =
  'admin_values = ["weir-admins"]\nviewer_values = ["family"]\nuser_claim = "preferred_username"';
/** User who is initially signed in at the provider. */
export const VERA: Person = { sub: 'person-1', preferred_username: 'vera', groups: ['family'] };

/** Result of a login. */
export interface LoginOutcome {
  readonly status: number;
  readonly text: string;
  /** Secret of the session; undefined without one. */
  readonly secret: string | undefined;
}

/** The API of a suite with a provider; the administrator is logged in. */
export class OidcSuite {
  readonly node = new AuthSuite();
  provider!: OpenIdProvider;
  /** Session of the administrator. */
  session = '';
  /** URL of Weir. */
  weir = '';

  /** Registers the hooks of the suite. */
  constructor() {
    beforeAll(async () => {
      this.provider = await OpenIdProvider.start();
    });
    afterAll(() => this.provider.close());
    beforeEach(async () => {
      this.provider.person = VERA;
      this.provider.falsify = null;
      await this.serve(ROLES);
      await this.node.api.setUp();
      this.session = await this.node.api.logIn();
    });
  }

  /** Restarts Weir with these lines in the section of the provider. */
  async serve(
    lines: string,
    { issuer = this.provider.issuer, others = '', secret = 'client_secret = "a secret of weir"' } = {},
  ): Promise<void> {
    const own = `enabled = true\nissuer = "${issuer}"\nclient_id = "weir"\n${secret}\n${lines}`;
    await this.node.restart(`${others}\n[auth.oidc]\n${own}`);
    this.weir = `http://127.0.0.1:${this.node.api.port}`;
  }

  /** A complete login. */
  async logIn(path = '/login/oidc', browser = new TestBrowser()): Promise<LoginOutcome> {
    return this.outcome(browser, (await browser.follow(`${this.weir}${path}`)).response);
  }

  async outcome(browser: TestBrowser, response: Response): Promise<LoginOutcome> {
    const secret = browser.cookie(this.weir, 'svc_session');
    return { status: response.status, text: await response.text(), secret };
  }

  /** The address to which the provider redirects the browser. */
  async answerFor(browser: TestBrowser): Promise<URL> {
    const { url } = await browser.follow(`${this.weir}/login/oidc`, (at) => at.includes('/callback?'));
    return new URL(url);
  }

  /** All users, as `name: role`. */
  async users(): Promise<string[]> {
    const { body } = await this.node.api.send('GET', '/api/users', { session: this.session });
    return UserList.parse(body).map(({ username, role }) => `${username}: ${role}`);
  }
}
