/** Keys of the web server, of accounts, of the query log and of lists, with a check of each key. */
import { request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { SystemUpdate } from '../../../shared/api/updates/updates-api.ts';
import type { StatsSummary } from '../../../shared/api/stats-api.ts';
import { until, within } from '../../support/parts/until.ts';
import { PASSWORD } from '../../support/weir/api-client.ts';
import type { LiveKey, LiveFixture } from './live-fixture.ts';

/** Status of a request without credentials. */
async function statusOf(
  fixture: LiveFixture,
  path: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return (await ask(fixture, 'GET', path, { headers })).status;
}

async function ask(
  { weir }: LiveFixture,
  method: string,
  path: string,
  { headers = {}, json }: { headers?: Record<string, string>; json?: object } = {},
): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }> {
  const type = json === undefined ? {} : { 'content-type': 'application/json' };
  const outgoing = request({
    ...{ host: '127.0.0.1', port: weir.webPort, method, path, agent: false },
    headers: { ...type, ...headers },
  });
  outgoing.end(json && JSON.stringify(json));
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  const [incoming] = await within(`the answer to ${method} ${path}`, answered);
  return { status: incoming.statusCode!, headers: incoming.headers, body: await text(incoming) };
}

/** Lifetime in hours of a new session, or the status of a refused login. */
async function loginHours(fixture: LiveFixture, username = 'admin', remember = false): Promise<number> {
  const json = { username, password: PASSWORD, remember_me: remember };
  const { status, body } = await ask(fixture, 'POST', '/api/auth/login', { json });
  if (status !== 200) return status;
  const { expires_at: end } = JSON.parse(body) as { expires_at: string };
  return Math.round((Date.parse(end) - Date.now()) / 3_600_000);
}

let strangers = 0;

/** The response to a second login with a wrong password, for a new user name. */
async function secondGuess(fixture: LiveFixture) {
  const json = { username: `stranger${String(++strangers)}`, password: 'a wrong password' };
  await ask(fixture, 'POST', '/api/auth/login', { json });
  return ask(fixture, 'POST', '/api/auth/login', { json });
}

/** Resolves once the log records of all queries of this client have been read from the DNS thread. */
async function untilTaken(fixture: LiveFixture): Promise<void> {
  const { body } = await ask(fixture, 'POST', '/check/probes');
  const { id, name } = JSON.parse(body) as { id: string; name: string };
  await fixture.ask(name);
  await until(
    `the question of probe ${id} to be seen`,
    async () => (await ask(fixture, 'GET', `/check/probes/${id}`)).body,
    (body) => (JSON.parse(body) as { asked: boolean }).asked,
  );
}

/** Rows of the log for a new name. */
async function loggedRows(fixture: LiveFixture): Promise<{ client: string; answers: unknown }[]> {
  const name = fixture.newName('logged.example');
  await fixture.ask(name);
  await untilTaken(fixture);
  const later = fixture.newName('later.example');
  const now = await fixture.values(['database.log_queries']);
  // Once a later query is in the log, an earlier logged query must also be in the log.
  await fixture.set({ 'database.log_queries': true });
  await fixture.ask(later);
  await fixture.api.untilQueryCount(1, `domain=${later}`);
  await fixture.set(now);
  return fixture.api.queries(`domain=${name}`);
}

/**
 * Period of the next request, in hours. Each request has a different period, because equal requests within a second get
 * the same response.
 */
let hours = 24;

/** Queries that are in the log but not counted. */
async function notCounted(fixture: LiveFixture): Promise<number> {
  const stats = await fixture.api.expect<StatsSummary>(200, 'GET', `/stats?period=${String(++hours)}h`);
  return stats.queries_not_counted;
}

/** Log lines about a successful reload. */
async function reloadLines(fixture: LiveFixture): Promise<string[]> {
  const at = fixture.weir.output.length;
  const linesOf = (part: string): string[] =>
    fixture.weir.output
      .slice(at)
      .split('\n')
      .filter((line) => line.includes(part));
  const auditDays = async (): Promise<number> =>
    Number((await fixture.values(['database.audit_days']))['database.audit_days']);
  const days = (await auditDays()) + 1;
  fixture.editAuditDays(days);
  fixture.weir.child.kill('SIGHUP');
  await until('the reload', auditDays, (now) => now === days);
  // The level takes effect after the reload has logged its line.
  await fixture.set({ 'database.audit_days': days + 1 });
  // Then causes an error line, which every log level includes.
  fixture.editAuditDays(0);
  fixture.weir.child.kill('SIGHUP');
  await until('the error', () => linesOf('reload failed').length > 0);
  fixture.editAuditDays(days + 1);
  return linesOf('configuration file reloaded');
}

export const WEB_KEYS: readonly LiveKey[] = [
  {
    key: 'server.metrics_public',
    to: true,
    observe: (fixture) => statusOf(fixture, '/metrics'),
    before: 401,
    after: 200,
  },
  {
    key: 'server.update_url',
    to: 'https://weir.example.org/newest.json',
    observe: async (fixture) => (await fixture.api.expect<SystemUpdate>(200, 'GET', '/system/update')).source,
    before: null,
    after: 'https://weir.example.org/newest.json',
  },
  {
    key: 'server.allowed_hosts',
    to: ['weir.example.org'],
    observe: (fixture) => statusOf(fixture, '/api/health', { host: 'weir.example.org' }),
    before: 421,
    after: 200,
  },
  {
    key: 'auth.enabled',
    to: false,
    observe: (fixture) => statusOf(fixture, '/api/groups'),
    before: 401,
    after: 200,
  },
  {
    key: 'auth.session_ttl_hours',
    to: 48,
    observe: (fixture) => loginHours(fixture),
    before: 24,
    after: 48,
  },
  {
    key: 'auth.remember_me_days',
    to: 2,
    observe: (fixture) => loginHours(fixture, 'admin', true),
    before: 720,
    after: 48,
  },
  {
    key: 'auth.admin.username',
    to: 'doe',
    observe: (fixture) => loginHours(fixture, 'doe'),
    before: 401,
    after: 24,
  },
  {
    key: 'auth.login_rate_limit_attempts',
    to: 1,
    observe: async (fixture) => (await secondGuess(fixture)).status,
    before: 401,
    after: 429,
  },
  {
    key: 'auth.login_rate_limit_window_secs',
    to: 60,
    alongside: { 'auth.login_rate_limit_attempts': 1 },
    observe: async (fixture) => Number((await secondGuess(fixture)).headers['retry-after']) > 60,
    before: true,
    after: false,
  },
  {
    key: 'database.log_queries',
    to: false,
    observe: async (fixture) => (await loggedRows(fixture)).length,
    before: 1,
    after: 0,
  },
  {
    key: 'database.query_log_privacy',
    to: 'no_answers',
    observe: async (fixture) => (await loggedRows(fixture)).map(({ answers }) => answers !== null),
    before: [true],
    after: [false],
  },
  {
    key: 'database.log_excluded_domains',
    to: ['logged.example'],
    observe: async (fixture) => (await loggedRows(fixture)).length,
    before: 1,
    after: 0,
  },
  {
    key: 'database.stats_excluded_domains',
    to: ['logged.example'],
    observe: async (fixture) => {
      const before = await notCounted(fixture);
      const rows = await loggedRows(fixture);
      return [rows.length, (await notCounted(fixture)) - before];
    },
    before: [1, 0],
    after: [1, 1],
  },
  {
    key: 'blocking.unblock_requests',
    to: true,
    // Requests from loopback addresses are refused, because a proxy on this machine may send them for other devices.
    observe: async (fixture) =>
      (await ask(fixture, 'POST', '/check/unblock-requests', { json: { domain: 'a.example' } })).status,
    before: 404,
    after: 403,
  },
  {
    key: 'logging.format',
    to: 'json',
    observe: async (fixture) => (await reloadLines(fixture)).map((line) => line.startsWith('{')),
    before: [false],
    after: [true],
  },
  {
    key: 'logging.level',
    to: 'error',
    observe: async (fixture) => (await reloadLines(fixture)).length,
    before: 1,
    after: 0,
  },
];
