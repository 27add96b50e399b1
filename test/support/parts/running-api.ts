/**
 * Routes over real HTTP and a real PostgreSQL server. A suite chooses the routes, and creates the parts that the routes
 * need in addition to `ApiParts`. The complete table is in `every-route.ts`.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RequestLimit } from '../../../control-plane/api/request-limit.ts';
import type { RequestRate } from '../../../control-plane/api/request-limit.ts';
import type { Route } from '../../../control-plane/api/route.ts';
import { Authenticator } from '../../../control-plane/web/auth/authenticator.ts';
import { callerOf } from '../../../control-plane/web/auth/request-caller.ts';
import { ConfigFile } from '../../../control-plane/policy/settings/config-file.ts';
import { ConfiguredPassword } from '../../../control-plane/web/auth/accounts/configured-password.ts';
import type { PasswordHashing } from '../../../control-plane/web/auth/accounts/password.ts';
import type { ApiTokens } from '../../../control-plane/web/auth/tokens/api-tokens.ts';
import type { Users } from '../../../control-plane/web/auth/accounts/users.ts';
import { SetupCode } from '../../../control-plane/web/auth/setup-code.ts';
import type { AskingClients } from '../../../control-plane/filtering/unblock-requests/asking-clients.ts';
import { ClientDirectory } from '../../../control-plane/clients/devices/client-directory.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { Coalescer } from '../../../control-plane/storage/concurrency/coalescer.ts';
import type { DashboardSource } from '../../../control-plane/web/built-dashboard/dashboard-state.ts';
import type { CompatRoute } from '../../../control-plane/web/compat/compat-route.ts';
import { apiPrefix } from '../../../control-plane/api/api-prefix.ts';
import { createApp } from '../../../control-plane/web/server/app.ts';
import { checkTable } from '../../../control-plane/node/route-table.ts';
import type { WaitForNodes } from '../../../control-plane/web/server/preferred-wait.ts';
import type { AppParts } from '../../../control-plane/web/server/app.ts';
import { startWebServer } from '../../../control-plane/web/edge/server.ts';
import type { CertificatePair } from '../../../control-plane/web/tls/certificate-pair.ts';
import type { Config } from '../../../config/schema.ts';
import { Configuration } from '../../../control-plane/policy/settings/configuration.ts';
import { fileFaults } from '../../../control-plane/node/thread-settings/worker-settings.ts';
import { refuseTaken } from '../../../control-plane/web/auth/accounts/user-store.ts';
import { PolicyChanges } from '../../../control-plane/policy/change/change.ts';
import { Probes } from '../../../control-plane/clients/probes/probes.ts';
import type { PolicyRows } from '../../../control-plane/policy/change/rows.ts';
import { readPolicy } from '../../../control-plane/policy/change/policy-store.ts';
import { Problem } from '../../../shared/api/problem-details.ts';
import type { Clock } from '../../../shared/clock.ts';
import { CHEAP_HASHING, PASSWORD, PASSWORD_HASH } from './cheap-hashing.ts';
import { MemoryLogger } from './memory-logger.ts';
import { loadedConfig } from './test-config.ts';
import { within } from './until.ts';

export { PASSWORD, PASSWORD_HASH };

/** A clock that the test advances. */
export class SteeredClock implements Clock {
  private ms = Date.UTC(2026, 0, 15, 12);
  private aheadMs = 0;

  nowMs(): number {
    return this.ms + this.aheadMs;
  }

  monotonicMs(): number {
    return this.ms;
  }

  /** Advances the wall clock and the monotonic clock. */
  advanceSecs(secs: number): void {
    this.ms += secs * 1000;
  }

  /** Sets the wall clock; the monotonic clock does not advance. */
  stepSecs(secs: number): void {
    this.aheadMs += secs * 1000;
  }
}

/** The secret of all nodes. */
const SECRET = Buffer.alloc(32, 's');

/** A request of a test. */
export interface TestRequest {
  /** Body that is sent as JSON. */
  readonly json?: unknown;
  /** Raw body, sent with `headers`. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Local address to connect to; loopback by default. */
  readonly host?: string;
  /** Secret of a session. */
  readonly session?: string;
  /** A PROXY header that starts the connection. */
  readonly proxyHeader?: Uint8Array;
}

/** A complete response. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined if there is none. */
  readonly body: unknown;
  /** The body as problem details; throws if it has another format. */
  readonly problem: Problem;
}

/** Parts that most features need. */
export interface ApiParts extends AppParts {
  readonly database: Database;
  readonly probes: Probes;
  /** By default, accepts every address, and treats every name as blocked by a list. */
  readonly askingClients: AskingClients;
  readonly clients: ClientDirectory;
  /** Configuration in the file `weir.toml` of `RunningApi.folder`. */
  readonly configuration: Configuration;
  /**
   * Activates only the configuration and the groups of clients, and counts the changes in `RunningApi.policyChanges`.
   */
  readonly policy: PolicyChanges;
  /** Certificate of encrypted DNS; none by default. */
  readonly dnsCertificate: { current(): CertificatePair | null } | null;
  readonly secret: { current(): Uint8Array };
  /** Grants after the last change. */
  readonly grants: () => PolicyRows['grants'];
  readonly startedAtMs: number;
  readonly tokens: ApiTokens;
  readonly users: Users;
  readonly callerNow: (http: Parameters<typeof callerOf>[1]) => ReturnType<typeof callerOf>;
}

/** Creates the routes of a suite. */
export type Rows = (parts: ApiParts) => readonly Route[];

/** Creates the routes of the compatibility API of a suite. */
export type CompatRows = (parts: ApiParts) => readonly CompatRoute[];

/** Options of an API. */
export interface ApiOptions {
  /** Lines of a configuration file; `auth.enabled = false` by default. */
  readonly toml?: string;
  /** A file with the password of the configuration. */
  readonly configFile?: string | undefined;
  readonly clock?: SteeredClock;
  readonly policy?: PolicyChanges;
  /** A hash function; by default a function that takes little CPU time. */
  readonly hashing?: PasswordHashing;
  /** Rate limit of all requests; none by default, because the clock does not advance. */
  readonly requestRate?: RequestRate;
  /** Part that waits for other nodes; by default, every node already has every revision. */
  readonly waitForNodes?: WaitForNodes;
  /** The dashboard; by default it is still being built. */
  readonly dashboard?: DashboardSource;
  /** Certificate of encrypted DNS. */
  readonly dnsCertificate?: ApiParts['dnsCertificate'];
  /** Answers to challenges of ACME. */
  readonly challengeAnswer?: AppParts['challengeAnswer'];
  /** Routes of the compatibility API, which are served if the configuration has `server.alt_compat`. */
  readonly compat?: CompatRows;
  readonly askingClients?: AskingClients;
}

const EVERY_CLIENT: AskingClients = { admits: () => true, statusFor: () => Promise.resolve('BLOCKED_LIST') };
const NO_RATE: RequestRate = { perSecond: 1e6, burst: 1e9 };

/** A listening API. */
export class RunningApi {
  readonly parts: ApiParts;
  readonly clock: SteeredClock;
  readonly logger: MemoryLogger;
  readonly setupCode: SetupCode;
  readonly routes: readonly Route[];
  /** Number of policy changes that were activated. */
  policyChanges = 0;
  private listening: { readonly port: number; close(): Promise<void> } | undefined;
  readonly folder: string;

  private constructor(database: Database, rows: Rows, options: ApiOptions, folder: string) {
    const toml = options.toml ?? 'auth.enabled = false';
    this.folder = folder;
    this.clock = options.clock ?? new SteeredClock();
    this.logger = new MemoryLogger();
    this.setupCode = new SetupCode(folder, this.logger);
    const configuration = configurationIn(folder, toml, { database, logger: this.logger });
    const config = (): Config => configuration.current();
    const configured = new ConfiguredPassword({
      config: config(),
      file: options.configFile === undefined ? null : new ConfigFile(options.configFile, folder),
    });
    const { clock, logger, setupCode } = this;
    const clients = new ClientDirectory({ clock });
    let grants: PolicyRows['grants'] = [];
    // Reads and applies the rows one read at a time, as a node does, so that rows read earlier never replace newer
    // rows.
    const applier = new Coalescer(async () => {
      const { rows } = await configuration.follow(() => readPolicy(database, () => undefined));
      clients.follow(rows);
      grants = rows.grants;
    });
    const apply = (): Promise<void> => {
      this.policyChanges += 1;
      return applier.run();
    };
    const auth = new Authenticator({
      ...{ config, configured, database, clock, logger, setupCode },
      hashing: options.hashing ?? CHEAP_HASHING,
    });
    this.parts = {
      version: '0.0.0-test',
      nodeName: 'node-a',
      startedAtMs: clock.monotonicMs(),
      configuration,
      dnsPort: 5353,
      requestLimit: new RequestLimit(clock, options.requestRate ?? NO_RATE),
      metrics: async () => ({
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
        text: async () => 'weir_test 1\n',
      }),
      dashboard: options.dashboard ?? { state: async () => ({ kind: 'building' }) },
      probes: new Probes(clock, () => undefined),
      askingClients: options.askingClients ?? EVERY_CLIENT,
      waitForNodes: options.waitForNodes ?? (() => Promise.resolve([])),
      clock,
      secret: { current: () => SECRET },
      dnsCertificate: options.dnsCertificate ?? null,
      challengeAnswer: options.challengeAnswer,
      logger,
      database,
      clients,
      grants: () => grants,
      auth,
      callerNow: callerOf.bind(null, auth),
      tokens: auth.tokens,
      users: auth.users,
      policy: options.policy ?? new PolicyChanges(database, { apply, threadsBehind: () => 0 }),
    };
    this.routes = rows(this.parts);
  }

  /** Listens on a free loopback port. */
  static async start(database: Database, rows: Rows, options: ApiOptions = {}): Promise<RunningApi> {
    const api = new RunningApi(database, rows, options, await mkdtemp(join(tmpdir(), 'weir-node-')));
    const { parts, routes, logger } = api;
    const app = createApp(parts, routes, {
      compat: options.compat?.(parts),
      check: checkTable(parts),
    });
    const server = await startWebServer(app, parts.configuration.current(), logger);
    api.listening = { port: server.endpoints[0]!.port, close: () => server.close() };
    return api;
  }

  get port(): number {
    return this.listening!.port;
  }

  /** Prefix of the native API. */
  get prefix(): string {
    return apiPrefix(this.parts.configuration.current().server.alt_compat);
  }

  /** Sends a request and reads the whole response. */
  async send(method: string, path: string, options: TestRequest = {}): Promise<TestAnswer> {
    const body = options.raw ?? (options.json === undefined ? undefined : JSON.stringify(options.json));
    const headers: Record<string, string> = { ...options.headers };
    if (options.json !== undefined) headers['content-type'] ??= 'application/json';
    if (options.session !== undefined) headers['cookie'] = `svc_session=${options.session}`;
    if (body !== undefined && headers['transfer-encoding'] === undefined)
      headers['content-length'] ??= String(Buffer.byteLength(body));
    const { host = '127.0.0.1', proxyHeader } = options;
    const connection =
      proxyHeader === undefined
        ? { agent: false as const }
        : { createConnection: () => this.openWith(host, proxyHeader) };
    const request = httpRequest({ host, port: this.port, method, path, headers, ...connection });
    const answered = once(request, 'response');
    // The server may respond before it has received the whole body, and then closes the connection without reading the
    // rest.
    request.on('error', () => undefined);
    request.end(body);
    const [response] = (await within(`the answer to ${method} ${path}`, answered)) as [IncomingMessage];
    const content = await within(`the end of the answer to ${method} ${path}`, response.toArray());
    const text = Buffer.concat(content).toString();
    const isJson = /[/+]json/.test(response.headers['content-type'] ?? '') && text !== '';
    const answer = isJson ? (JSON.parse(text) as unknown) : undefined;
    return {
      status: response.statusCode!,
      headers: response.headers,
      text,
      body: answer,
      get problem() {
        return Problem.parse(answer);
      },
    };
  }

  private openWith(host: string, firstOctets: Uint8Array): Socket {
    const socket = connect(this.port, host);
    socket.write(firstOctets);
    return socket;
  }

  /** Sets the password of a fresh installation. */
  async setUp(): Promise<void> {
    const text =
      'INSERT INTO admin_credential (password_hash) VALUES ($1) ON CONFLICT (id) DO UPDATE SET password_hash = $1';
    await this.parts.database.query(text, [PASSWORD_HASH]);
  }

  /** Logs in and returns the session's secret. */
  async logIn(options: { remember_me?: boolean; headers?: Record<string, string> } = {}): Promise<string> {
    const { headers = {}, ...more } = options;
    const json = { username: 'admin', password: PASSWORD, ...more };
    const answer = await this.send('POST', `${this.prefix}/auth/login`, { json, headers });
    const cookie = sessionCookie(answer);
    if (cookie === undefined) throw new Error(`log in: ${answer.status} ${answer.text}`);
    return cookie.secret;
  }

  async close(): Promise<void> {
    await this.listening?.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/**
 * The configuration with these lines. Settings that the API itself needs come from the environment, so that no test
 * changes them.
 */
function configurationIn(
  folder: string,
  toml: string,
  parts: { readonly database: Database; readonly logger: MemoryLogger },
): Configuration {
  const file = join(folder, 'weir.toml');
  const { config, given, text } = loadedConfig(toml);
  writeFileSync(file, text);
  const fixed = Object.entries(given.file).filter(([name]) => /^(?:server\.web_port$|auth\.)/.test(name));
  const loaded = { config, file, given: { file: given.file, environment: Object.fromEntries(fixed) } };
  return new Configuration({ loaded, dataDir: folder, fileFaults, refuseTaken, ...parts });
}

/** The session cookie that a response sets. */
export function sessionCookie(answer: TestAnswer): { secret: string; attributes: string[] } | undefined {
  const lines = answer.headers['set-cookie'] as string[] | undefined;
  const line = lines?.find((text) => text.startsWith('svc_session='));
  if (line === undefined) return undefined;
  const [pair = '', ...attributes] = line.split('; ');
  return { secret: pair.slice('svc_session='.length), attributes };
}
