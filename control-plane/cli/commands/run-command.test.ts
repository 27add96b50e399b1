import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApp } from '../../web/server/app.ts';
import { startLocalServer } from '../../web/edge/local-server.ts';
import { everyRoute } from '../../../test/support/parts/every-route.ts';
import { memoryScreen } from '../../../test/support/parts/memory-screen.ts';
import { MemorySources } from '../../../test/support/parts/memory-sources.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { within } from '../../../test/support/parts/until.ts';
import { TypedClient } from '../../../shared/api/client/typed-client.ts';
import { parseArguments } from '../arguments.ts';
import { nodeFetch } from '../remote/node-fetch.ts';
import { runCommand } from './run-command.ts';

const WEIR = join(import.meta.dirname, '../weir');
/** A hostile name that a client may query and the log stores. */
const HOSTILE = 'a\u001b]0;owned\u0007\u009b2J\u202e.test';

let folder: string;
let api: RunningApi;
let suite: SuiteDatabase;
let stop: () => Promise<void>;

const row = {
  id: null,
  timestamp: '2026-01-15T11:59:58.123Z',
  node: 'node-a',
  client: '192.0.2.7',
  client_hostname: null,
  group_id: 1,
  domain: HOSTILE,
  type: 'A',
  protocol: 'udp',
  status: 'BLOCKED_LIST',
  block_source: HOSTILE,
  block_rule: null,
  rcode: 'NOERROR',
  response_time_us: 1234,
  cached: false,
  upstream: null,
  dnssec_status: 'INDETERMINATE',
  answers: null,
};

serveSuite(
  everyRoute({
    sources: new MemorySources(),
    tail: {
      admit: () => undefined,
      send: async (response) => {
        response.write(': hello\n\n');
        response.write(`id: 1\ndata: ${JSON.stringify({ rows: [row], skipped: 3, nodes: 'all' })}\n\n`);
        response.end();
      },
    },
  }),
  (served) => ({ api, suite } = served),
  { toml: '' },
);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-cli-'));
  stop = await startLocalServer(createApp(api.parts, api.routes), folder, api.logger);
});

afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

/** Runs a command, which contacts the socket or --url. */
async function run(line: string, env: NodeJS.ProcessEnv = { WEIR_SERVER_DATA_DIR: folder }) {
  const command = parseArguments(line.split(' '));
  if (command.kind !== 'run') throw new Error(JSON.stringify(command));
  const screen = memoryScreen();
  const { spec, arguments: given, options } = command;
  const status = await runCommand({ name: spec.name, arguments: given, options }, screen, env);
  return { status, lines: screen.lines, errors: screen.errors };
}

/** Runs a command in a separate process. */
async function runProcess(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(WEIR, args, {
    env: { PATH: process.env['PATH'], WEIR_SERVER_DATA_DIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, ended] = await within(
    `weir ${args.join(' ')} to end`,
    Promise.all([text(child.stdout), text(child.stderr), once(child, 'close') as Promise<[number | null]>]),
  );
  return { status: ended[0], out, err };
}

describe('the weir command over its Unix socket', () => {
  test('status shows the state of the node, and needs no login', async () => {
    const { status, out, err } = await runProcess(['status']);
    expect([status, err]).toEqual([0, '']);
    expect(out.split('\n').slice(0, 14)).toEqual([
      'Weir 0.0.0-test on node-a: ok, up 0 s',
      '  dns            ok',
      '  database       ok',
      '  upstreams      ok',
      '  filters        ok',
      '  nodes          ok',
      '  clock          ok',
      '  access         ok',
      '  web            ok',
      '  certificates   ok',
      '  disk           ok',
      '  configuration  ok',
      '  privileges     ok',
      '  blocking       on, as configured',
    ]);
    expect(out).toContain('\nIn 24 hours\n  queries        0\n');
  });

  test('tail escapes control characters in names from the log', async () => {
    const people = await runProcess(['tail']);
    const programs = await runProcess(['tail', '--json']);
    for (const { out, err } of [people, programs])
      expect((out + err).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(people.out).toContain('a\\u{1b}]0;owned\\u{7}\\u{9b}2J\\u{202e}.test');
    expect(people.out).toContain('11:59:58.123 192.0.2.7');
    expect(people.err).toBe('weir: 3 more queries were left out\nweir: the server has ended the stream\n');
    expect(JSON.parse(programs.out)).toEqual(row);
    expect(people.status).toBe(3);
  });

  test('remove-second-factor lets a user who lost the second factor log in', async () => {
    await api.setUp();
    const { database } = suite;
    await database.query(`INSERT INTO users (username, role) VALUES ('Vera', 'viewer')`);
    await database.query(
      `INSERT INTO second_factors (user_id, secret, confirmed_at) SELECT id, '\\x00', now() FROM users`,
    );
    const answers = [];
    for (const name of ['', ' vera', ' unknown', ' vera'])
      answers.push(await run(`remove-second-factor${name}`));
    expect(answers.map(({ status, lines, errors }) => [status, ...lines, ...errors])).toEqual([
      [0, 'admin can now log in with only the password'],
      [0, 'Vera can now log in with only the password'],
      [2, 'weir: user "unknown" does not exist'],
      [1, expect.stringContaining('second factor of Vera does not exist')],
    ]);
    expect((await database.query('SELECT FROM second_factors')).rowCount).toBe(0);
  });

  test('exits with status 3 if no server runs, and 2 for invalid arguments', async () => {
    const ended = await runProcess(['status'], { WEIR_SERVER_DATA_DIR: join(folder, 'empty') });
    expect(ended).toEqual({
      status: 3,
      out: '',
      err: `weir: no server is running on the data directory: there is no ${join(folder, 'empty/weir.sock')}\n`,
    });
    expect((await runProcess(['pause', 'soon'])).status).toBe(2);
  });

  test('completion prints a shell script', async () => {
    expect((await runProcess(['completion', 'bash'])).out).toContain('complete -F _weir weir');
  });
});

describe('runCommand()', () => {
  test('status --json prints health, blocking, query rate and statistics', async () => {
    const { status, lines } = await run('status --json');
    expect(status).toBe(0);
    expect(JSON.parse(lines.join('\n'))).toMatchObject({
      health: { status: 'ok', node: 'node-a' },
      blocking: { enabled: true },
      rate: { queries: 1500 },
      stats: { queries_total: 0 },
    });
  });

  test('explain prints the decision for a name', async () => {
    const { lines } = await run('explain ads.example.org --client 192.0.2.7 --type AAAA');
    expect(lines[0]).toBe('ads.example.org AAAA for 192.0.2.7 in group 1: ALLOWED');
    expect(lines.at(-1)).toBe('no answer is sent');
    expect(JSON.parse((await run('explain a.test --json')).lines.join('\n'))).toMatchObject({
      domain: 'a.test',
    });
  });

  test('explain and top report which parameter is wrong', async () => {
    expect(await run('explain a.test --type NOPE')).toMatchObject({
      status: 1,
      errors: [expect.stringContaining('type: ')],
    });
    expect(await run('top --limit 0')).toMatchObject({
      status: 1,
      errors: [expect.stringContaining('limit: ')],
    });
  });

  test('top prints a table, or JSON', async () => {
    expect((await run('top')).lines).toEqual(['QUERIES  NAME']);
    expect((await run('top clients')).lines).toEqual(['QUERIES  BLOCKED  CLIENT  NAME']);
    expect((await run('top blocked --json --period 1h')).lines).toEqual(['[]']);
  });

  test('pause and resume print the state of blocking', async () => {
    const answers = [await run('pause 10m'), await run('resume')];
    for (const { status, lines } of answers)
      expect([status, lines]).toEqual([0, ['blocking is on, as configured']]);
    for (const time of ['soon', '0s', '10'])
      expect(await run(`pause ${time}`)).toMatchObject({
        status: 2,
        errors: [expect.stringContaining('10m')],
      });
  });

  test('records a change over the Unix socket in the audit log with the author cli and without an address', async () => {
    const client = new TypedClient({
      baseUrl: 'http://localhost/api',
      fetch: nodeFetch(join(folder, 'weir.sock')),
    });
    await client.call('POST /managed-domains', { body: { domain: 'ads.example.org' } });
    const { rows } = await suite.database.query('SELECT actor, address FROM audit_log');
    expect(rows).toContainEqual({ actor: 'cli', address: null });
  });

  test('lists prints the list sources, and lists refresh waits until they are fetched', async () => {
    expect((await run('lists')).lines[0]).toContain('STATUS');
    const refreshed = await run('lists refresh --json --no-wait');
    expect(JSON.parse(refreshed.lines.join('\n'))).toMatchObject({ block: [], allow: [] });
  });

  test('config get prints active keys, without secrets', async () => {
    expect((await run('config get server.web_port')).lines).toEqual(['server.web_port = 0']);
    const all = (await run('config get')).lines;
    expect(all).toContain('server.alt_compat = false');
    expect(all.join('\n')).not.toContain('password_hash');
    expect((await run('config get server.constructor')).status).toBe(2);
  });
});

describe('config set and config reload', () => {
  const file = (): string => join(api.folder, 'weir.toml');

  test('change a key of each type in the running server and in its configuration file', async () => {
    const set = async (key: string, value: string): Promise<unknown> => {
      expect(await run(`config set ${key} ${value}`)).toMatchObject({ status: 0, errors: [] });
      return (await run(`config get ${key} --json`)).lines.join('');
    };
    expect(await set('blocking.mode', 'nxdomain')).toBe('"nxdomain"');
    expect(await set('cache.min_ttl_secs', '7')).toBe('7');
    expect(await set('dns.rate_limit.enabled', 'true')).toBe('true');
    expect(JSON.parse(String(await set('dns.bootstrap', '192.0.2.1,192.0.2.2')))).toHaveLength(2);
    const pools = await set('dns.pools', '[{"name":"one","servers":["192.0.2.53"]}]');
    expect(pools).toContain('192.0.2.53');
    const text = await readFile(file(), 'utf8');
    expect(text).toContain('mode = "nxdomain"');
    expect(text).toContain('servers = ["192.0.2.53"]');
  });

  test('can change blocking.list_dirs, which the API over the network cannot change', async () => {
    expect(await run('config set blocking.list_dirs /srv/lists')).toMatchObject({ status: 0, errors: [] });
    expect((await run('config get blocking.list_dirs')).lines).toEqual([
      'blocking.list_dirs = ["/srv/lists"]',
    ]);
  });

  test('report which changed keys need a restart', async () => {
    expect((await run('config set cache.max_bytes 2097152')).lines).toEqual([
      'cache.max_bytes is set',
      'cache.max_bytes takes effect after a restart',
    ]);
    await writeFile(file(), 'cache.max_bytes = 4194304\n');
    expect(await run('config reload --json')).toMatchObject({
      status: 0,
      lines: [expect.stringContaining('"cache.max_bytes"')],
    });
  });

  test('report a fault, and name its key, value or file', async () => {
    expect((await run('config set blocking.moode x')).status).toBe(2);
    expect((await run('config set database.url postgres://u:secret@h/d')).errors).toEqual([
      'weir: database.url is a secret, which must not be passed as an argument',
    ]);
    expect(await run('config set blocking.ttl_secs soon')).toMatchObject({
      status: 1,
      errors: [expect.stringContaining('blocking.ttl_secs: expected a whole number')],
    });
    expect((await run('config set server.web_port 1')).errors[0]).toContain('WEIR_SERVER_WEB_PORT');
    const before = await readFile(file(), 'utf8');
    await writeFile(file(), 'blocking = 1\n');
    expect(await run('config reload')).toMatchObject({
      status: 1,
      errors: [expect.stringContaining('weir.toml, line 1')],
    });
    await writeFile(file(), before);
  });
});

describe('weir --url', () => {
  const noSocket = {};
  const url = (): string => `http://127.0.0.1:${api.port}`;

  test('sends no credentials without a token, and explains how to provide a token', async () => {
    const { status, errors } = await run(`lists --url ${url()}`, noSocket);
    expect([status, errors.at(-1)]).toEqual([
      1,
      'weir: specify an API token with --token-file or $WEIR_TOKEN',
    ]);
  });

  test('sends the token from the environment or from a file, to the API prefix that the server announces', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.url} ${String(request.headers['x-api-key'])}`);
      response.setHeader('Content-Type', 'application/json');
      response.end(request.url === '/svc-config.js' ? '"apiBase":"/svc/api"' : '[]');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const file = join(folder, 'token');
    await writeFile(file, 'from-file\n');
    await run(`top --url http://127.0.0.1:${port}`, { WEIR_TOKEN: 'from-env' });
    await run(`top --url http://127.0.0.1:${port}/api --token-file ${file}`, { WEIR_TOKEN: 'from-env' });
    server.close();
    expect(seen).toEqual([
      '/svc-config.js undefined',
      '/svc/api/stats/top_domains from-env',
      '/api/stats/top_domains from-file',
    ]);
  });

  test('does not send the token to the target of a redirect', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(301, { Location: 'https://weir.test/api' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { status, errors } = await run(`top --url http://127.0.0.1:${port}/api`, { WEIR_TOKEN: 'x' });
    server.close();
    expect([status, errors[0]]).toEqual([
      3,
      `weir: http://127.0.0.1:${port} redirects to https://weir.test/api; use that URL`,
    ]);
  });

  test.each([
    ['top --url ftp://weir.test', 2],
    ['top --url http://user:pw@weir.test/', 2],
    ['top --token-file /nowhere/token', 2],
    ['top --url http://127.0.0.1:9/api', 3],
    ['top --url http://127.0.0.1:9/ --token-file /nowhere/token', 2],
  ])('with "%s" exits with status %i', async (line, expected) => {
    expect((await run(line)).status).toBe(expected);
  });
});
