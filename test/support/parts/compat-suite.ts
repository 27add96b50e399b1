/** The compatibility API over HTTP. Each response is checked against its schema: no member is missing or unknown. */
import { CompatError, CompatSession } from '../../../shared/api/compat/compat-api.ts';
import { everyCompatRoute, everyRoute } from './every-route.ts';
import { PASSWORD, type RunningApi, type TestAnswer, type TestRequest } from './running-api.ts';
import { serveSuite } from './served-suite.ts';
import type { SuiteDatabase } from './suite-database.ts';

/** The session object that a response contains. */
export type ShownSession = CompatSession['session'] & { readonly csrf?: string };

/** Options of a suite. */
export interface CompatSuiteOptions {
  /** Lines of the configuration after the one that enables the API. */
  readonly toml?: string;
  readonly given?: Parameters<typeof everyRoute>[0];
}

/** Both APIs of a test, with all parts that they use, and a password. */
export class CompatSuite {
  suite!: SuiteDatabase;
  api!: RunningApi;
  private readonly options: CompatSuiteOptions;
  private readonly startAgain: ReturnType<typeof serveSuite>;

  /** Registers the hooks of a suite. */
  constructor(options: CompatSuiteOptions = {}) {
    this.options = options;
    const served = this.served(options.toml ?? '');
    this.startAgain = serveSuite(everyRoute(options.given), (found) => Object.assign(this, found), {
      ...served,
      perTest: true,
    });
  }

  /** Restarts both APIs over the same database. */
  restart(toml: string): Promise<void> {
    return this.startAgain(this.served(toml));
  }

  /** Sends a request and checks the response. */
  async send(method: string, path: string, options: TestRequest = {}): Promise<TestAnswer> {
    const answer = await this.api.send(method, path, options);
    if (answer.body !== undefined) this.check(method, path, answer);
    return answer;
  }

  /** The body of the response for a path, with authentication disabled. */
  async open<Body>(path: string): Promise<Body> {
    const { status, body, text } = await this.send('GET', path);
    if (status !== 200) throw new Error(`read ${path}: ${String(status)} ${text}`);
    return body as Body;
  }

  /** A request with the secret of a session in a header. */
  async get(path: string, sid: string): Promise<TestAnswer> {
    return this.send('GET', path, { headers: { sid } });
  }

  /** Sends a password and returns the response. */
  async logInAnswer(password: string, headers: Record<string, string> = {}): Promise<TestAnswer> {
    return this.send('POST', '/api/auth', { raw: JSON.stringify({ password }), headers });
  }

  /** Opens a session and returns its secret. */
  async logIn(): Promise<string> {
    const { sid } = sessionIn(await this.logInAnswer(PASSWORD));
    if (sid === null) throw new Error('log in: no sid');
    return sid;
  }

  private check(method: string, path: string, { status, body, text }: TestAnswer): void {
    if (Object.keys(body as object).at(-1) !== 'took') throw new Error(`${path}: took is not last: ${text}`);
    const [place = ''] = path.split('?');
    const rows = everyCompatRoute(this.options.given)(this.api.parts);
    const row = rows.find((one) => one.method === method && `/api${one.path}` === place);
    const schema = status === 200 ? row!.answer : 'session' in (body as object) ? CompatSession : CompatError;
    const result = schema.safeParse(body);
    if (!result.success) throw new Error(`${method} ${path}: ${result.error.message} in ${text}`);
  }

  private served(toml: string) {
    return { toml: `server.alt_compat = true\n${toml}`, compat: everyCompatRoute(this.options.given) };
  }
}

/** The session object of a response. */
export function sessionIn(answer: TestAnswer): ShownSession {
  return (answer.body as CompatSession).session;
}

/** The error object of a response. */
export function errorIn(answer: TestAnswer): CompatError['error'] {
  return (answer.body as CompatError).error;
}
