/** Login and sessions over HTTP, with the clock in the test's hand. */
import { SessionList } from '../../../shared/api/auth-api.ts';
import type { Session } from '../../../shared/api/auth-api.ts';
import { everyRoute } from './every-route.ts';
import type { RunningApi } from './running-api.ts';
import type { TestAnswer } from './running-api.ts';
import type { SuiteDatabase } from './suite-database.ts';
import { serveSuite } from './served-suite.ts';

/** The API of a test, with everything behind it. */
export class AuthSuite {
  suite!: SuiteDatabase;
  api!: RunningApi;
  private readonly startAgain: ReturnType<typeof serveSuite>;

  /** Registers the hooks of a suite with authentication on, before its setup. */
  constructor() {
    this.startAgain = serveSuite(everyRoute(), (served) => Object.assign(this, served), {
      toml: '',
      perTest: true,
    });
  }

  restart(toml: string, configFile?: string): Promise<void> {
    return this.startAgain({ toml, configFile });
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
