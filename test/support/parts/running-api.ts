/**
 * The API over real HTTP and a real PostgreSQL server of its own, for the suites beside this file. Parts that
 * lie behind the ports of `ApiContext` and have suites of their own are stood in for by plain objects here.
 */
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { Authenticator } from '../../../control-plane/auth/authenticator.ts';
import { ConfiguredPassword } from '../../../control-plane/auth/configured-password.ts';
import { SetupCode } from '../../../control-plane/auth/setup-code.ts';
import { lockDataDir } from '../../../control-plane/db/data-dir-lock.ts';
import { startDatabase } from '../../../control-plane/db/database.ts';
import type { Database } from '../../../control-plane/db/database.ts';
import type { ApiContext } from '../../../control-plane/api/api-context.ts';
import { CacheContents } from '../../../control-plane/cache/cache-contents.ts';
import { createAnswerCache } from '../../../shared/memory/answer-cache-layout.ts';
import { ClientDirectory } from '../../../control-plane/clients/client-directory.ts';
import { createApp } from '../../../control-plane/http/app.ts';
import { startWebServer } from '../../../control-plane/http/server.ts';
import { queryLogReader } from '../../../control-plane/query-log/reading/query-log-reader.ts';
import { PolicyChanges } from '../../../control-plane/policy/change.ts';
import { readPolicyRows } from '../../../control-plane/policy/policy-store.ts';
import { configRecords } from '../../../control-plane/settings/derived.ts';
import { ServiceCatalog } from '../../../control-plane/services/service-catalog.ts';
import { readCacheUse, readSummary } from '../../../control-plane/stats/stats-store.ts';
import { Problem } from '../../../shared/api/problem-details.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import type { UpstreamReport } from '../../../shared/threads/messages.ts';
import { MemorySources } from './memory-sources.ts';
import { testConfig } from './test-config.ts';

/** The administrator's password once `setUp()` was called. */
export const PASSWORD = 'correct horse battery';

/** A clock that a test moves. */
export class SteeredClock implements Clock {
  private ms = Date.UTC(2026, 0, 15, 12);
  private aheadMs = 0;

  nowMs(): number {
    return this.ms + this.aheadMs;
  }

  monotonicMs(): number {
    return this.ms;
  }

  /** Time passes. */
  advanceSecs(secs: number): void {
    this.ms += secs * 1000;
  }

  /** Somebody sets the wall clock; no time passes. */
  stepSecs(secs: number): void {
    this.aheadMs += secs * 1000;
  }
}

/** A database of one suite, in a folder that goes away with it. */
export interface SuiteDatabase {
  readonly database: Database;
  /** Empties what the API fills, as if Weir had just been installed. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Starts an embedded server with all migrations in force. */
export async function openSuiteDatabase(): Promise<SuiteDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-api-'));
  await chmod(folder, 0o755); // As root the server runs as another user, who must get through.
  const lock = lockDataDir(folder);
  const database = startDatabase({ urls: '', lock, logger: new RecordingLogger() });
  await database.whenUp();
  return {
    database,
    reset: async () => {
      await database.query('TRUNCATE sessions, admin_credential, login_failures');
      await database.query(
        'TRUNCATE managed_domains, regex_filters, blocked_services, custom_services, revisions, forward_zones, dns_settings, safe_search_configs',
      );
      await database.query('TRUNCATE local_records');
      await database.query('TRUNCATE schedule_profiles, schedule_slots, group_schedules, blocking_switch');
      await database.query('DELETE FROM list_sources');
      await database.query('TRUNCATE clients, client_subnets, query_log');
      await database.query('DELETE FROM groups WHERE id <> 1');
    },
    close: async () => {
      await database.close();
      lock.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Keeps every line, so that tests can look for secrets and faults in them. */
export class RecordingLogger implements Logger {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: unknown }[] = [];

  debug(message: string, fields?: unknown): void {
    this.lines.push({ level: 'debug', message, fields });
  }

  info(message: string, fields?: unknown): void {
    this.lines.push({ level: 'info', message, fields });
  }

  warn(message: string, fields?: unknown): void {
    this.lines.push({ level: 'warn', message, fields });
  }

  error(message: string, fields?: unknown): void {
    this.lines.push({ level: 'error', message, fields });
  }

  child(): Logger {
    return this;
  }
}

/** The upstream of the node under test. */
const UPSTREAM: UpstreamReport = {
  address: 'tls://dns.example.org',
  transport: 'tls',
  poolName: 'main',
  strategy: 'Fastest',
  status: 'Healthy',
  queries: 100,
  failures: 2,
  consecutiveFailures: 0,
  lastError: 'timeout',
  latenciesMs: Float32Array.of(10, 20, 30),
  resolved: ['192.0.2.1'],
};

/** The server of its only forward zone. */
const ZONE_UPSTREAM: UpstreamReport = {
  ...UPSTREAM,
  address: '192.0.2.53',
  transport: 'udp',
  poolName: 'corp.example.org',
  strategy: 'Parallel',
  status: 'Unhealthy',
  latenciesMs: new Float32Array(0),
  resolved: [],
};

/** A request of a test. */
export interface TestRequest {
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is; goes with `headers`. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Address to connect to; the loopback by default. */
  readonly host?: string;
  /** Secret of a session. */
  readonly session?: string;
}

/** An answer, read to its end. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; undefined if there is none. */
  readonly body: unknown;
  /** The body as problem details; throws if it is none. */
  readonly problem: Problem;
}

/** A listening API. */
export class RunningApi {
  readonly clock: SteeredClock;
  readonly logger: RecordingLogger;
  readonly sources: MemorySources;
  readonly context: ApiContext;
  readonly setupCode: SetupCode;
  /** How often a policy change was put into force. */
  policyChanges = 0;
  readonly port: number;
  private readonly closeServer: () => Promise<void>;

  private constructor(parts: {
    readonly clock: SteeredClock;
    readonly logger: RecordingLogger;
    readonly sources: MemorySources;
    readonly context: ApiContext;
    readonly setupCode: SetupCode;
    readonly port: number;
    readonly closeServer: () => Promise<void>;
  }) {
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.sources = parts.sources;
    this.context = parts.context;
    this.setupCode = parts.setupCode;
    this.port = parts.port;
    this.closeServer = parts.closeServer;
  }

  /** Listens on a free port of the loopback. */
  static async start(
    database: Database,
    toml = '',
    overrides: Partial<ApiContext> = {},
    configFile?: string,
  ): Promise<RunningApi> {
    const config = testConfig(toml);
    const clock = overrides.clock instanceof SteeredClock ? overrides.clock : new SteeredClock();
    const logger = new RecordingLogger();
    const sources = new MemorySources();
    const clients = new ClientDirectory();
    const folder = await mkdtemp(join(tmpdir(), 'weir-node-'));
    const setupCode = new SetupCode(folder, logger);
    const configured = new ConfiguredPassword({ config, file: configFile });
    const policy = new PolicyChanges(database, {
      apply: async () => {
        running.policyChanges += 1;
        clients.follow(await readPolicyRows(database, () => undefined));
      },
      threadsBehind: () => 0,
    });
    const context: ApiContext = {
      ...standIns(config, database, clock, logger, clients),
      auth: new Authenticator({ config: () => config, configured, database, clock, logger, setupCode }),
      sources,
      policy,
      blockingSwitch: () => null,
      clients,
      ...overrides,
    };
    const server = await startWebServer(createApp(context), config, logger);
    const { port } = server.endpoints[0]!;
    const running: RunningApi = new RunningApi({
      clock,
      logger,
      sources,
      context,
      port,
      setupCode,
      closeServer: async () => {
        await server.close();
        await rm(folder, { recursive: true, force: true });
      },
    });
    return running;
  }

  /** Sends a request and reads the whole answer. */
  async send(method: string, path: string, options: TestRequest = {}): Promise<TestAnswer> {
    const body = options.raw ?? (options.json === undefined ? undefined : JSON.stringify(options.json));
    const headers: Record<string, string> = { ...options.headers };
    if (options.json !== undefined) headers['content-type'] ??= 'application/json';
    if (options.session !== undefined) headers['cookie'] = `svc_session=${options.session}`;
    if (body !== undefined && headers['transfer-encoding'] === undefined)
      headers['content-length'] ??= String(Buffer.byteLength(body));
    const { host = '127.0.0.1' } = options;
    const request = httpRequest({ host, port: this.port, method, path, headers, agent: false });
    const answered = once(request, 'response');
    request.end(body);
    const [response] = (await answered) as [IncomingMessage];
    const text = Buffer.concat(await response.toArray()).toString();
    const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
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

  /** Sets the password of a fresh installation. */
  async setUp(): Promise<void> {
    await this.send('POST', '/api/auth/setup', { json: { password: PASSWORD } });
  }

  /** Logs in and returns the session's secret. */
  async logIn(options: { remember_me?: boolean; headers?: Record<string, string> } = {}): Promise<string> {
    const { headers = {}, ...more } = options;
    const json = { username: 'admin', password: PASSWORD, ...more };
    const answer = await this.send('POST', '/api/auth/login', { json, headers });
    const cookie = sessionCookie(answer);
    if (cookie === undefined) throw new Error(`log in: ${answer.status} ${answer.text}`);
    return cookie.secret;
  }

  close(): Promise<void> {
    return this.closeServer();
  }
}

/** The session cookie that an answer sets. */
export function sessionCookie(answer: TestAnswer): { secret: string; attributes: string[] } | undefined {
  const lines = answer.headers['set-cookie'] as string[] | undefined;
  const line = lines?.find((text) => text.startsWith('svc_session='));
  if (line === undefined) return undefined;
  const [pair = '', ...attributes] = line.split('; ');
  return { secret: pair.slice('svc_session='.length), attributes };
}

function standIns(
  config: Config,
  database: Database,
  clock: Clock,
  logger: Logger,
  clients: ClientDirectory,
): Omit<ApiContext, 'auth' | 'sources' | 'policy' | 'blockingSwitch' | 'clients'> {
  return {
    version: '0.0.0-test',
    nodeName: 'node-a',
    startedAtMs: clock.monotonicMs(),
    config: () => config,
    dnsPort: () => 5353,
    clock,
    logger,
    database,
    queryLog: queryLogReader(database, (address) => clients.nameAt(address)),
    stats: {
      summary: (from: Date, to: Date) => readSummary(database, from.getTime(), to.getTime()),
      cacheUse: (from: Date, to: Date) => readCacheUse(database, from.getTime(), to.getTime()),
    },
    localNames: {
      localDomain: () => config.dns.local_domain,
      live: () => ({ configRecords: configRecords(config), leases: [] }),
    },
    counters: { recentQueries: (unit: 'second' | 'minute') => (unit === 'second' ? 1500 : 90_000) },
    explainer: {
      explain: async ({ domain, type, client }) => ({
        domain,
        type,
        client,
        group_id: 1,
        snapshot_id: 7,
        status: 'ALLOWED',
        decided_by: null,
        stages: [],
        answer: null,
      }),
    },
    catalog: new ServiceCatalog(tmpdir()),
    compiledLists: {
      page: async (kind, { limit, offset }) => ({
        data: [{ domain: `${kind}.example`, match: 'exact', important: false, sources: ['ads'] }],
        total: 1,
        total_is_estimate: false,
        limit,
        offset,
      }),
    },
    filters: {
      stats: () => ({
        blocked_domains: 12,
        allowed_domains: 3,
        wildcard_rules: 2,
        regex_rules: 0,
        filter_bytes: 4096,
        snapshot_id: 7,
        compiled_at: '2026-01-15T11:00:00.000Z',
        compile_ms: 1.5,
      }),
    },
    upstreams: { reports: () => [{ pools: [UPSTREAM], zones: [ZONE_UPSTREAM] }] },
    cache: new CacheContents(createAnswerCache(0), () => 0),
    health: {
      checks: () => {
        const { state, error } = database.status();
        const isUp = state === 'up';
        return {
          dns: { status: 'ok' },
          database: isUp ? { status: 'ok' } : { status: 'down', detail: error ?? state },
          upstreams: { status: 'ok' },
          filters: { status: 'ok' },
        } as const;
      },
    },
  };
}
