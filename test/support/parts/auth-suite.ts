/** Login and sessions over HTTP, with a clock that the test controls. */
import { beforeEach } from '@jest/globals';
import { SessionList } from '../../../shared/api/auth-api.ts';
import type { Session } from '../../../shared/api/auth-api.ts';
import { everyCompatRoute, everyRoute } from './every-route.ts';
import type { RunningApi } from './running-api.ts';
import type { TestAnswer } from './running-api.ts';
import type { SuiteDatabase } from './suite-database.ts';
import { serveSuite } from './served-suite.ts';

/** The API of a suite, with all parts that it uses. */
export class AuthSuite {
  suite!: SuiteDatabase;
  api!: RunningApi;
  private readonly startAgain: ReturnType<typeof serveSuite>;
  /** Whether a test has restarted the API with other options. */
  private isOther = false;

  /** Registers the hooks of a suite with authentication enabled, before a password is set. */
  constructor() {
    this.startAgain = serveSuite(everyRoute(), (served) => Object.assign(this, served), { toml: '' });
    beforeEach(async () => {
      if (this.isOther) await this.startAgain({ toml: '', clock: this.api.clock });
      this.isOther = false;
    });
  }

  /** Restarts the API over the same database, until the end of the test. */
  async restart(toml: string, configFile?: string): Promise<void> {
    this.isOther = true;
    await this.startAgain({ toml, configFile, clock: this.api.clock, compat: everyCompatRoute() });
  }

  logIn(
    password: string,
    more: { username?: string; headers?: Record<string, string> } = {},
  ): Promise<TestAnswer> {
    const { username = 'admin', headers = {} } = more;
    return this.api.send('POST', '/api/auth/login', { json: { username, password }, headers });
  }

  async sessionsOf(session: string): Promise<Session[]> {
    return SessionList.parse((await this.api.send('GET', '/api/auth/sessions', { session })).body);
  }

  async isIn(session: string): Promise<boolean> {
    return (await this.api.send('GET', '/api/groups', { session })).status === 200;
  }
}
