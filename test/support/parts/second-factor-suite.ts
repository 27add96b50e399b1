/** Users with a second factor, over HTTP. */
import { beforeEach } from '@jest/globals';
import { RecoveryCodes, SecondFactorSecret, SecondFactorState } from '../../../shared/api/auth-api.ts';
import { AuthenticatorApp } from './authenticator-app.ts';
import { AuthSuite } from './auth-suite.ts';
import { PASSWORD, type TestAnswer } from './running-api.ts';

const PLACE = '/api/auth/second-factor';

/** The enabled second factor of a user. */
export interface ShownFactor {
  readonly app: AuthenticatorApp;
  readonly codes: readonly string[];
}

/** The API of a suite; the administrator is logged in. */
export class SecondFactorSuite {
  readonly node = new AuthSuite();
  /** Session of the administrator. */
  session = '';

  /** Registers the hooks of the suite. */
  constructor() {
    beforeEach(async () => {
      await this.node.api.setUp();
      this.session = await this.node.api.logIn();
    });
  }

  post(path: string, json: object, own = this.session): Promise<TestAnswer> {
    return this.node.api.send('POST', `${PLACE}${path}`, { session: own, json });
  }

  async state(): Promise<SecondFactorState> {
    const { body } = await this.node.api.send('GET', PLACE, { session: this.session });
    return SecondFactorState.parse(body);
  }

  /** Logs the administrator in. */
  logIn(more: object = {}, api = this.node.api): Promise<TestAnswer> {
    return api.send('POST', '/api/auth/login', {
      json: { username: 'admin', password: PASSWORD, ...more },
    });
  }

  /** Enables the second factor. */
  async enable(own = this.session, password = PASSWORD): Promise<ShownFactor> {
    const made = await this.post('', { password }, own);
    const app = new AuthenticatorApp(SecondFactorSecret.parse(made.body).secret, this.node.api.clock);
    const answer = await this.post('/confirm', { totp_code: app.code() }, own);
    if (answer.status !== 200) throw new Error(`confirm a second factor: ${answer.status} ${answer.text}`);
    // The confirmation has used the current code, so the next login needs a later code.
    do this.node.api.clock.advanceSecs(30);
    while (!app.hasDistinctCodes);
    return { app, codes: RecoveryCodes.parse(answer.body).recovery_codes };
  }
}

/** The status and the error code of a response. */
export function outcomeOf({ status, body }: TestAnswer): unknown {
  return status < 300 ? status : [status, (body as { error: string }).error];
}
