/** A client of the REST API for tests: one login, then calls that return status and body. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlocklistSource, SourceCreate } from '../../../shared/api/policy/sources-api.ts';
import type { Group } from '../../../shared/api/policy/groups-api.ts';
import type { LoggedQuery, QueryLogPage } from '../../../shared/api/query-log-api.ts';
import type { StatsSummary } from '../../../shared/api/stats-api.ts';
import { until, within } from '../parts/until.ts';
import { httpCall, readLines } from './http-call.ts';
import { ScrapedMetrics } from './scraped-metrics.ts';

/** Response of the API. */
export interface ApiAnswer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
}

/** Password of the administrator of every Weir under test; `STARTED_ONCE` has its hash. */
export const PASSWORD = 'a password of the tests';
/**
 * Polling interval. A shorter interval costs both processes CPU time, and new rows appear in the log only once a
 * second.
 */
const POLL_MS = 100;
const PAGE_SIZE = 1000;
/** Deadline of a call with its retries, in addition to the time-out of one request. */
const CALL_MS = 200_000;

/** A logged-in session. */
export class ApiClient {
  private readonly base: string;
  private readonly cookie: string;

  private constructor(base: string, cookie: string) {
    this.base = base;
    this.cookie = cookie;
  }

  /** Sets the password if there is none, and logs in. The database must be available. */
  static async signIn(
    webPort: number,
    host = '127.0.0.1',
    path = '/api',
    password = PASSWORD,
  ): Promise<ApiClient> {
    const base = `http://${host}:${String(webPort)}${path}`;
    const stranger = new ApiClient(base, '');
    const { body } = await stranger.call<{ setup_required: boolean }>('GET', '/auth/status');
    if (body.setup_required) await stranger.expect(204, 'POST', '/auth/setup', { password });
    const credentials = { username: 'admin', password };
    const { status, headers, text } = await httpCall('POST', `${base}/auth/login`, credentials);
    if (status !== 200) throw new Error(`log in: status ${String(status)}: ${text}`);
    const cookies = (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]);
    return new ApiClient(base, cookies.join('; '));
  }

  /** The secret of the session. */
  get session(): string {
    return /svc_session=([^;]+)/.exec(this.cookie)![1]!;
  }

  /**
   * Sends a request and returns the response with any status. If the rate limit refuses the request, repeats it after
   * the time that the response gives.
   */
  async call<Body = unknown>(method: string, path: string, body?: object): Promise<ApiAnswer<Body>> {
    let retryAfterSecs = 0;
    const { status, text } = await until(
      `${method} ${path} to be within the limit of requests`,
      async () => {
        await sleep(retryAfterSecs * 1000);
        const answer = await httpCall(method, this.base + path, body, this.cookie);
        const isLimited = answer.status === 429 && answer.text.includes('"rate_limited"');
        retryAfterSecs = isLimited ? Number(answer.headers['retry-after']) : 0;
        return answer;
      },
      () => retryAfterSecs === 0,
      { withinMs: CALL_MS },
    );
    return { status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
  }

  /** Sends a request; throws unless the response has this status. */
  async expect<Body = unknown>(status: number, method: string, path: string, body?: object): Promise<Body> {
    const answer = await this.call<Body>(method, path, body);
    if (answer.status !== status)
      throw new Error(`${method} ${path}: status ${String(answer.status)}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Metrics as Prometheus scrapes them. */
  async metrics(): Promise<ScrapedMetrics> {
    const { status, text } = await httpCall(
      'GET',
      new URL('/metrics', this.base).href,
      undefined,
      this.cookie,
    );
    if (status !== 200) throw new Error(`scrape: status ${String(status)}: ${text}`);
    return new ScrapedMetrics(text);
  }

  /** Creates a group. */
  createGroup(name: string): Promise<Group> {
    return this.expect<Group>(201, 'POST', '/groups', { name });
  }

  /** Creates a source and waits until its list is active or has failed. */
  async addSource(source: Partial<SourceCreate> & { name: string; url: string }): Promise<BlocklistSource> {
    const { id } = await this.expect<BlocklistSource>(201, 'POST', '/blocklist-sources', source);
    return this.settledSource(id);
  }

  /** The source, once no fetch of it is pending or running. */
  settledSource(id: number): Promise<BlocklistSource> {
    return until(
      `list ${String(id)} to be fetched and compiled`,
      () => this.expect<BlocklistSource>(200, 'GET', `/blocklist-sources/${String(id)}`),
      ({ status }) => status !== 'pending' && status !== 'updating',
      { pauseMs: POLL_MS },
    );
  }

  /** Every row of the query log that matches `filter`, newest first. */
  async queries(filter = ''): Promise<LoggedQuery[]> {
    const rows: LoggedQuery[] = [];
    for (;;) {
      const path = `/queries?limit=${String(PAGE_SIZE)}&offset=${String(rows.length)}&${filter}`;
      const { data, total } = await this.expect<QueryLogPage>(200, 'GET', path);
      rows.push(...data);
      if (rows.length >= total || data.length === 0) return rows;
    }
  }

  /** Number of queries in the query log that match `filter`; a row may count several. */
  async queryCount(filter = ''): Promise<number> {
    return (await this.countLog(filter)).total_queries;
  }

  /** Number of rows of the query log that match `filter`. */
  async rowCount(filter = ''): Promise<number> {
    return (await this.countLog(filter)).total;
  }

  /** Waits until the log has `count` queries that match `filter`; returns the number. */
  untilQueryCount(count: number, filter = ''): Promise<number> {
    return until(
      `${String(count)} queries in the log (filter '${filter}')`,
      () => this.queryCount(filter),
      (now) => now >= count,
      { pauseMs: POLL_MS },
    );
  }

  /** Number of queries in the exported rows that match `filter`. */
  exportedQueries(filter: string): Promise<number> {
    let queries = 0;
    const count = async (): Promise<number> => {
      for await (const line of readLines(`${this.base}/queries/export?format=ndjson&${filter}`, this.cookie))
        queries += 1 + Number(/"repeats":(\d+)[,}]/.exec(line)![1]);
      return queries;
    };
    const lastSeen = (): string => `${String(queries)} queries`;
    return within(`the end of an export (filter '${filter}')`, count(), { withinMs: CALL_MS, lastSeen });
  }

  stats(): Promise<StatsSummary> {
    return this.expect<StatsSummary>(200, 'GET', '/stats?period=1h');
  }

  private countLog(filter: string): Promise<QueryLogPage> {
    return this.expect<QueryLogPage>(200, 'GET', `/queries?limit=1&${filter}`);
  }
}
