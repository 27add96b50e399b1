/**
 * A database that is unreachable, refuses connections, crashes or becomes available again: DNS continues with its last
 * policy, `/health` reports the fault, and the query log is complete again afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { lockDataDir } from '../../../control-plane/storage/db/data-dir-lock.ts';
import { createEmbeddedServer } from '../../../control-plane/storage/db/embedded-server.ts';
import type { EmbeddedServer } from '../../../control-plane/storage/db/embedded-server.ts';
import type { PostgresAddress } from '../../../control-plane/storage/db/postgres/postgres-address.ts';
import { serversOn } from '../../../control-plane/storage/db/postgres/postgres-process.ts';
import type { Health } from '../../../shared/api/system-api.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { MemoryLogger } from '../../support/parts/memory-logger.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { httpCall } from '../../support/weir/http-call.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { HungDatabase } from '../../support/weir/hung-database.ts';
import { Load } from '../../support/weir/query-load.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const SECRET = 'not-the-password';
const DEAD_URL = `postgres://weir:${SECRET}@127.0.0.1:9/weir`;

let upstream: ScriptedUpstream;
let upstreams: readonly string[] = [];
let lists: ListServer;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  upstreams = [`127.0.0.1:${String(upstream.port)}`];
  lists = await startListServer();
  lists.serve('/list.txt', 'blocked.example.com\n');
});
afterAll(async () => {
  await upstream.close();
  await lists.close();
});

/** Expects that blocked names are blocked and that other names resolve. */
async function expectServes(weir: Weir, mark: string): Promise<void> {
  using udp = await UdpClient.open(weir.dnsPort);
  expect(await udp.ask('blocked.example.com', 'A')).toMatchObject({ data: ['0.0.0.0'] });
  expect(await udp.ask(`${mark}.example.com`, 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
}

async function expectDegraded(weir: Weir, reason: RegExp): Promise<void> {
  await weir.untilOutput(new RegExp(`database is down .*${reason.source}`));
  const { status, body } = await weir.health();
  expect({
    status,
    health: body.status,
    database: body.checks.database.status,
    dns: body.checks.dns.status,
  }).toEqual({
    status: 200,
    health: 'degraded',
    database: 'degraded',
    dns: 'ok',
  });
  // The reason is shown only in the log and to users with a session.
  expect(JSON.stringify(body)).not.toContain('detail');
  expect(JSON.stringify(body) + weir.output).not.toContain(SECRET);
}

describe('weir with its own database, after several faults in succession,', () => {
  const tempDir = makeTempDir();
  /** The node with the faulty database, which the next test also uses. */
  let faulty: Weir;
  beforeAll(async () => {
    await prepareDataDir(tempDir.dataDir);
    await using weir = await Weir.start({ tempDir, upstreams });
    const api = await weir.api();
    expect(await api.addSource({ name: 'list', url: lists.url('/list.txt') })).toMatchObject({
      status: 'ok',
    });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await faulty.end('SIGKILL');
    tempDir.remove();
  });

  test('answers and blocks from disk if its database is down at the start, reports this, and spools the log', async () => {
    await using weir = await Weir.start({
      tempDir,
      upstreams,
      env: { WEIR_DATABASE_URL: DEAD_URL },
      database: 'later',
    });
    await expectServes(weir, 'while-down');
    await expectDegraded(weir, /ECONNREFUSED/);
    const url = `http://127.0.0.1:${String(weir.webPort)}/api/auth/login`;
    const login = await httpCall('POST', url, { username: 'admin', password: 'whatever' });
    expect(login).toMatchObject({ status: 503, text: expect.stringContaining('"unavailable"') });
    expect(login.headers['retry-after']).toMatch(/^\d+$/);
    expect(await weir.stop()).toMatchObject({ code: 0 });

    faulty = await Weir.start({ tempDir, upstreams });
    const api = await faulty.api();
    expect(await api.untilQueryCount(1, 'domain=while-down')).toBe(1);
    expect((await faulty.health()).body.status).toBe('ok');
  });

  test('answers without a gap while its database dies under load, reconnects, and logs every query', async () => {
    const weir = faulty;
    const api = await weir.api();
    // Counts log lines, because a short outage may end before a request for the health state is answered.
    const downs = (): number => weir.output.split('database is down').length;
    const load = await Load.start(weir.dnsPort, 'kill');
    await load.untilMore(200);
    for (let round = 0; round < 2; round++) {
      const { databasePid } = weir;
      const before = downs();
      process.kill(databasePid, 'SIGKILL');
      await until('the loss of the database in the output', downs, (count) => count > before);
      await expectServes(weir, `round-${String(round)}`);
      await load.untilMore(200);
      await weir.untilHealth(({ checks }) => checks.database.status === 'ok');
      expect(weir.databasePid).not.toBe(databasePid);
    }
    await load.untilMore(100);
    await load.stop();
    expect(load.lost).toEqual([]);
    expect(load.replies.every(({ rcode }) => rcode === Rcode.NOERROR)).toBe(true);
    const count = load.replies.length;
    expect(await api.untilQueryCount(count, 'domain=.kill.example.com')).toBe(count);
    // Rows that were in transit when the server was killed must be stored once, not twice.
    const domains = (await api.queries('domain=.kill.example.com')).map(({ domain }) => domain);
    expect(new Set(domains).size).toBe(count);
  });

  test('ends in time at SIGTERM while its database hangs, leaves no process, and logs every query', async () => {
    const weir = faulty;
    const load = await Load.start(weir.dnsPort, 'hung');
    await load.untilMore(100);
    using hung = HungDatabase.of(weir);
    await load.untilMore(100);
    await load.stop();
    expect(load.lost).toEqual([]);
    expect(await weir.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(serversOn(hung.cluster)).toEqual([]);

    faulty = await Weir.start({ tempDir, upstreams });
    const count = load.replies.length;
    const api = await faulty.api();
    expect(await api.untilQueryCount(count, 'domain=.hung.example.com')).toBe(count);
  });

  test('ends at once at a second signal while its database hangs', async () => {
    const weir = faulty;
    using hung = HungDatabase.of(weir);
    weir.child.kill('SIGTERM');
    await weir.untilOutput(/stopping/);
    expect(await weir.end('SIGINT')).toMatchObject({ code: 1 });
    expect(weir.output).toMatch(/stopping immediately/);
    expect(hung.pids.length).toBeGreaterThan(0);
  });
});

describe('weir with an external database server', () => {
  const tempDir = makeTempDir();
  const weirTempDir = makeTempDir();
  const logger = new MemoryLogger();
  /** Weir and its database server; the first test starts them, and the following tests use them. */
  let weir: Weir;
  let server: EmbeddedServer;
  let address: PostgresAddress;
  let release: () => void;
  const url = (password: string): string =>
    `postgres://${address.user}:${password}@localhost:${String(address.port)}/${address.database}?host=${encodeURIComponent(address.host)}`;

  beforeAll(async () => {
    const lock = lockDataDir(tempDir.dataDir);
    release = () => lock.release();
    server = createEmbeddedServer(lock, logger);
    address = await server.ensureRunning();
  });
  afterAll(async () => {
    await weir.end('SIGKILL');
    await server.stop();
    release();
    for (const each of [tempDir, weirTempDir]) each.remove();
  });

  /** Runs statements on the server while Weir also uses it. */
  async function sql(...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ ...address });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  test('continues without a database if the password is wrong, and reports the reason', async () => {
    const env = { WEIR_DATABASE_URL: url(SECRET) };
    await using weir = await Weir.start({ upstreams, env, database: 'later' });
    await expectDegraded(weir, /password authentication failed/);
    expect(weir.output).toMatch(/warn +database is down .*password authentication failed/);
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('anything.example.com', 'A')).toMatchObject({
      rcode: Rcode.NOERROR,
      data: [EVERY_ADDRESS],
    });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test('migrates the external database, uses it, and does not start its own', async () => {
    const env = { WEIR_DATABASE_URL: url(address.password) };
    await prepareDataDir(weirTempDir.dataDir, env.WEIR_DATABASE_URL);
    weir = await Weir.start({ tempDir: weirTempDir, upstreams, env });
    expect(weir.output).not.toContain(address.password);
    expect(weir.output).not.toMatch(/create the embedded database|embedded database is running/);
    const api = await weir.api();
    expect(await api.addSource({ name: 'list', url: lists.url('/list.txt') })).toMatchObject({
      status: 'ok',
    });
    await expectServes(weir, 'external');
    expect(await api.untilQueryCount(2)).toBe(2);
  });

  test('reports a change that it cannot activate as stored, and activates it when this is possible again', async () => {
    const api = await weir.api();
    // Reading policy fails from now on; storing a rule succeeds.
    await sql('ALTER TABLE safe_search_configs RENAME COLUMN youtube_mode TO away');
    const rule = { domain: 'stored.example.com', action: 'deny' };
    expect(await api.call('POST', '/managed-domains', rule)).toMatchObject({
      status: 503,
      body: { error: 'not_in_force', stored: true, revision: expect.any(Number) },
    });
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('stored.example.com', 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
    await sql('ALTER TABLE safe_search_configs RENAME COLUMN away TO youtube_mode');
    await until(
      'the stored rule to be active',
      async () => (await udp.ask('stored.example.com', 'A')).data,
      ([address]) => address === '0.0.0.0',
    );
  });

  test('answers on a copied data directory, but may write to the database only once its node name is free', async () => {
    const holder = weir;
    const other = makeTempDir();
    const env = { WEIR_DATABASE_URL: url(address.password) };
    execFileSync('cp', ['-a', weirTempDir.dataDir, other.dataDir]);
    await using second = await Weir.start({ tempDir: other, upstreams, env, database: 'later' });
    await second.untilOutput(/warn .*copied or moved; this node gets a new UUID/);
    await second.untilOutput(/error another machine runs as node e2e/);
    const detail = expect.stringMatching(/another machine runs as node e2e: choose another server.node_name/);
    const { checks } = await (await second.api()).expect<Health>(200, 'GET', '/health');
    expect(checks).toMatchObject({ dns: { status: 'ok' }, database: { status: 'degraded', detail } });
    expect((await holder.health()).body.checks.database.status).toBe('ok');
    using ofHolder = await UdpClient.open(holder.dnsPort);
    using ofSecond = await UdpClient.open(second.dnsPort);
    expect(await ofSecond.ask('second.twins.example.com', 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
    expect(await ofHolder.ask('holder.twins.example.com', 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
    const api = await holder.api();
    await api.untilQueryCount(1, 'domain=.twins.');
    expect((await api.queries('domain=.twins.')).map(({ domain }) => domain)).toEqual([
      'holder.twins.example.com',
    ]);
    expect(await holder.stop()).toMatchObject({ code: 0 });
    await second.untilHealth(({ checks: { database } }) => database.status === 'ok');
    expect(await (await second.api()).untilQueryCount(2, 'domain=.twins.')).toBe(2);
    expect(await second.stop()).toMatchObject({ code: 0 });
    other.remove();
  });

  test.each([
    [
      'whose schema is newer than itself',
      `INSERT INTO schema_migrations (name, run_on) VALUES ('9999_from-the-future', now())`,
      `DELETE FROM schema_migrations WHERE name = '9999_from-the-future'`,
      /schema of the database is newer than this version of Weir.*9999_from-the-future/,
    ],
    [
      'from before 0.1.0',
      `UPDATE schema_migrations SET name = '0001_groups' WHERE name = '0001_schema'`,
      `UPDATE schema_migrations SET name = '0001_schema' WHERE name = '0001_groups'`,
      /the database was created by a version of Weir older than 0\.1\.0 and was not changed.*weir backup FILE/,
    ],
  ])('does not change a database %s, and still answers', async (_what, change, undo, reason) => {
    const env = { WEIR_DATABASE_URL: url(address.password) };
    await sql(change, 'UPDATE nodes SET version = NULL');
    weir = await Weir.start({ tempDir: weirTempDir, upstreams, env, database: 'later' });
    await expectDegraded(weir, reason);
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('newer.example.com', 'A')).toMatchObject({ data: [EVERY_ADDRESS] });
    await sql('DO $$ BEGIN ASSERT (SELECT every(version IS NULL) FROM nodes); END $$', undo);
    await weir.untilHealth(({ checks }) => checks.database.status === 'ok');
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
});
