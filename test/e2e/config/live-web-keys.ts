/** Keys of the web server, of accounts, of the query log and of lists, and a check of each. */
import { request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { StatsSummary } from '../../../shared/api/stats-api.ts';
import { until, within } from '../../support/parts/until.ts';
import { PASSWORD } from '../../support/weir/api-client.ts';
import type { LiveKey, LiveRoom } from './live-room.ts';

/** Status of a request without credentials. */
async function statusOf(room: LiveRoom, path: string, headers: Record<string, string> = {}): Promise<number> {
  return (await ask(room, 'GET', path, { headers })).status;
}

async function ask(
  { weir }: LiveRoom,
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
async function loginHours(room: LiveRoom, username = 'admin', remember = false): Promise<number> {
  const json = { username, password: PASSWORD, remember_me: remember };
  const { status, body } = await ask(room, 'POST', '/api/auth/login', { json });
  if (status !== 200) return status;
  const { expires_at: end } = JSON.parse(body) as { expires_at: string };
  return Math.round((Date.parse(end) - Date.now()) / 3_600_000);
}

let strangers = 0;

/** The answer to a second login with a wrong password, for a new user name. */
async function secondGuess(room: LiveRoom) {
  const json = { username: `stranger${String(++strangers)}`, password: 'a wrong password' };
  await ask(room, 'POST', '/api/auth/login', { json });
  return ask(room, 'POST', '/api/auth/login', { json });
}

/** Resolves once the log records of all queries of this client have been read from its thread. */
async function untilTaken(room: LiveRoom): Promise<void> {
  const { body } = await ask(room, 'POST', '/check/probes');
  const { id, name } = JSON.parse(body) as { id: string; name: string };
  await room.ask(name);
  await until(
    `the question of probe ${id} to be seen`,
    async () => (await ask(room, 'GET', `/check/probes/${id}`)).body,
    (body) => (JSON.parse(body) as { asked: boolean }).asked,
  );
}

/** Rows of the log for a new name. */
async function loggedRows(room: LiveRoom): Promise<{ client: string; answers: unknown }[]> {
  const name = room.newName('logged.example');
  await room.ask(name);
  await untilTaken(room);
  const later = room.newName('later.example');
  const now = await room.values(['database.log_queries']);
  // Once a later query is in the log, an earlier one would be as well.
  await room.set({ 'database.log_queries': true });
  await room.ask(later);
  await room.api.untilQueryCount(1, `domain=${later}`);
  await room.set(now);
  return room.api.queries(`domain=${name}`);
}

/** A different period each time, because a repeated request within a second gets the same answer. */
let hours = 24;

/** Queries that are in the log but not counted. */
async function notCounted(room: LiveRoom): Promise<number> {
  const stats = await room.api.expect<StatsSummary>(200, 'GET', `/stats?period=${String(++hours)}h`);
  return stats.queries_not_counted;
}

/** Log lines about a successful reload. */
async function reloadLines(room: LiveRoom): Promise<string[]> {
  const at = room.weir.output.length;
  const linesOf = (part: string): string[] =>
    room.weir.output
      .slice(at)
      .split('\n')
      .filter((line) => line.includes(part));
  const auditDays = async (): Promise<number> =>
    Number((await room.values(['database.audit_days']))['database.audit_days']);
  const days = (await auditDays()) + 1;
  room.editAuditDays(days);
  room.weir.child.kill('SIGHUP');
  await until('the reload', auditDays, (now) => now === days);
  // The level takes effect after the reload has logged its line.
  await room.set({ 'database.audit_days': days + 1 });
  // An error, which every level logs, follows that line.
  room.editAuditDays(0);
  room.weir.child.kill('SIGHUP');
  await until('the error', () => linesOf('reload failed').length > 0);
  room.editAuditDays(days + 1);
  return linesOf('configuration file reloaded');
}

export const WEB_KEYS: readonly LiveKey[] = [
  {
    key: 'server.metrics_public',
    to: true,
    look: (room) => statusOf(room, '/metrics'),
    before: 401,
    after: 200,
  },
  {
    key: 'server.allowed_hosts',
    to: ['weir.example.org'],
    look: (room) => statusOf(room, '/api/health', { host: 'weir.example.org' }),
    before: 421,
    after: 200,
  },
  { key: 'auth.enabled', to: false, look: (room) => statusOf(room, '/api/groups'), before: 401, after: 200 },
  {
    key: 'auth.session_ttl_hours',
    to: 48,
    look: (room) => loginHours(room),
    before: 24,
    after: 48,
  },
  {
    key: 'auth.remember_me_days',
    to: 2,
    look: (room) => loginHours(room, 'admin', true),
    before: 720,
    after: 48,
  },
  {
    key: 'auth.admin.username',
    to: 'doe',
    look: (room) => loginHours(room, 'doe'),
    before: 401,
    after: 24,
  },
  {
    key: 'auth.login_rate_limit_attempts',
    to: 1,
    look: async (room) => (await secondGuess(room)).status,
    before: 401,
    after: 429,
  },
  {
    key: 'auth.login_rate_limit_window_secs',
    to: 60,
    beside: { 'auth.login_rate_limit_attempts': 1 },
    look: async (room) => Number((await secondGuess(room)).headers['retry-after']) > 60,
    before: true,
    after: false,
  },
  {
    key: 'database.log_queries',
    to: false,
    look: async (room) => (await loggedRows(room)).length,
    before: 1,
    after: 0,
  },
  {
    key: 'database.query_log_privacy',
    to: 'no_answers',
    look: async (room) => (await loggedRows(room)).map(({ answers }) => answers !== null),
    before: [true],
    after: [false],
  },
  {
    key: 'database.log_excluded_domains',
    to: ['logged.example'],
    look: async (room) => (await loggedRows(room)).length,
    before: 1,
    after: 0,
  },
  {
    key: 'database.stats_excluded_domains',
    to: ['logged.example'],
    look: async (room) => {
      const before = await notCounted(room);
      const rows = await loggedRows(room);
      return [rows.length, (await notCounted(room)) - before];
    },
    before: [1, 0],
    after: [1, 1],
  },
  {
    key: 'blocking.unblock_requests',
    to: true,
    // This machine itself is refused: other devices may be behind its proxies.
    look: async (room) =>
      (await ask(room, 'POST', '/check/unblock-requests', { json: { domain: 'a.example' } })).status,
    before: 404,
    after: 403,
  },
  {
    key: 'logging.format',
    to: 'json',
    look: async (room) => (await reloadLines(room)).map((line) => line.startsWith('{')),
    before: [false],
    after: [true],
  },
  {
    key: 'logging.level',
    to: 'error',
    look: async (room) => (await reloadLines(room)).length,
    before: 1,
    after: 0,
  },
];
