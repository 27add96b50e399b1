import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { StatusEvent } from '../../../shared/api/policy/status-api.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { logInAs, makeUser } from '../../../test/support/parts/people.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { userRoutes } from '../../web/auth/accounts/user-routes.ts';
import { authRoutes } from '../../web/auth/auth-routes.ts';
import { statusStreamRoutes } from './status-stream-routes.ts';
import { STATUS_STREAM_LIMITS, StatusStreams } from './status-streams.ts';

const ok = { status: 'ok' } as const;
const checks = {
  ...{ dns: ok, database: ok, upstreams: ok, filters: ok, nodes: ok, clock: ok, access: ok, web: ok },
  ...{ certificates: ok, disk: ok, configuration: ok, privileges: ok },
};

let api: RunningApi;
let streams: StatusStreams;
let blockedNames = 0;
serveSuite(
  (parts) => {
    const read = (): { event: StatusEvent; version: string } => ({
      event: {
        health: { status: 'ok', version: '1', node: 'node-a', uptime_secs: 1, checks },
        blocking: { enabled: true, timer_secs: null, source: 'configuration', this_node_only: false },
        blocked_names: blockedNames,
        unblock_requests: [],
        policy_version: 1,
      },
      version: String(blockedNames),
    });
    const { sessions } = parts.auth;
    streams = new StatusStreams({ read, sessions, logger: parts.logger, tickMs: 200 });
    return [
      ...statusStreamRoutes({ ...parts, statusStreams: streams }),
      ...authRoutes(parts),
      ...userRoutes(parts),
    ];
  },
  (served) => ({ api } = served),
  { perTest: true, toml: '' },
);

const requests: ClientRequest[] = [];
afterEach(() => {
  for (const request of requests.splice(0)) request.destroy();
  streams.close();
});

/** An open stream and the text received so far. */
interface Reader {
  readonly response: IncomingMessage;
  readonly text: () => string;
  readonly isEnded: () => boolean;
}

async function open(session: string): Promise<Reader> {
  const headers = { cookie: `svc_session=${session}` };
  const request = get({ port: api.port, path: '/api/status/stream', agent: false, headers });
  request.on('error', () => undefined);
  requests.push(request);
  const [response] = (await within('the answer', once(request, 'response'))) as [IncomingMessage];
  let text = '';
  let isEnded = false;
  response.setEncoding('utf8').on('data', (part: string) => (text += part));
  response.on('close', () => (isEnded = true)).on('error', () => undefined);
  return { response, text: () => text, isEnded: () => isEnded };
}

function eventsOf({ text }: Reader): StatusEvent[] {
  return [...text().matchAll(/^data: (.*)\n\n/gm)].map(([, data]) => StatusEvent.parse(JSON.parse(data!)));
}

describe('GET /status/stream', () => {
  test('sends the state immediately and on each change, and comments in between', async () => {
    await api.setUp();
    const reader = await open(await api.logIn());
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    });
    await until('two comments', () => reader.text().split(':\n\n').length > 2);
    expect(eventsOf(reader)).toHaveLength(1);
    blockedNames++;
    await until('the change', () => eventsOf(reader).length === 2);
    expect(eventsOf(reader)[1]!.blocked_names).toBe(blockedNames);
  });

  test('ends after the logout of its session or when Weir stops, but not when other sessions end', async () => {
    await api.setUp();
    const [one, other] = [await api.logIn(), await api.logIn()];
    const [mine, theirs] = [await open(one), await open(other)];
    await api.send('POST', '/api/auth/logout', { session: one, json: {} });
    await until('the stream of the session to end', mine.isEnded);
    expect(theirs.isEnded()).toBe(false);
    streams.close();
    await until('the other stream to end', theirs.isEnded);
    expect((await api.send('GET', '/api/status/stream', { session: other })).status).toBe(503);
  });

  test('needs a session, and limits the number of streams of one user', async () => {
    await api.setUp();
    expect((await api.send('GET', '/api/status/stream')).status).toBe(401);
    const admin = await api.logIn();
    await makeUser(api, admin, { username: 'vera', role: 'viewer' });
    // Both sessions of a user count for the same limit.
    const sessions = [await logInAs(api, 'vera'), await logInAs(api, 'vera')];
    const attempts = [];
    for (let i = 0; i < STATUS_STREAM_LIMITS.perCaller + 2; i++)
      attempts.push((await open(sessions[i % 2]!)).response);
    const refused = attempts.filter(({ statusCode }) => statusCode !== 200);
    expect(refused.map(({ statusCode, headers }) => [statusCode, headers['retry-after']])).toEqual([
      [429, '10'],
      [429, '10'],
    ]);
    const others = await open(admin);
    expect(others.response.statusCode).toBe(200);
    // A stream that ends no longer counts against the limit.
    requests[0]!.destroy();
    await until('a free place', async () => (await open(sessions[0]!)).response.statusCode === 200);
  });
});
