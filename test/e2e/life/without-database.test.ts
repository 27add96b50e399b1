/** Every read of the API, and a pause, while PostgreSQL is unreachable. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Blocking } from '../../../shared/api/policy/blocking-api.ts';
import type { AuditLogPage } from '../../../shared/api/audit-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { everyOperation } from '../../support/parts/every-route.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import { DatabaseGate } from '../../support/weir/database-gate.ts';
import { httpCall } from '../../support/weir/http-call.ts';
import { startSharedDatabase } from '../../support/weir/shared-database.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/** Paths that are answered from memory; all others need the database. */
const FROM_MEMORY: ReadonlySet<string> = new Set([
  ...['/health', '/hostname', '/system/info', '/config', '/auth/status', '/tls/status', '/openapi.json'],
  '/tls/acme',
  ...['/clients', '/clients/silent', '/clients/refused', '/clients/{id}', '/list-catalog'],
  '/clients/{id}/services',
  ...['/clients/{id}/phone-setup'],
  ...['/upstream-catalog'],
  ...['/blocklist', '/allowlist', '/whitelist', '/explain', '/block-filter/stats', '/services/categories'],
  ...['/settings', '/blocking', '/grants', '/grants/{id}', '/cache/metrics', '/cache/entries', '/stats/rate'],
  ...['/upstream/health', '/upstream/health/detail', '/queries/stream', '/probes/{probe_id}'],
  ...['/system/reachability', '/system/storage', '/system/log', '/system/update'],
  ...['/status/stream'],
]);
/** Paths in `FROM_MEMORY` whose object does not exist. */
const UNKNOWN: ReadonlySet<string> = new Set([
  ...[
    '/clients/{id}',
    '/clients/{id}/phone-setup',
    '/clients/{id}/services',
    '/grants/{id}',
    '/probes/{probe_id}',
  ],
]);
/** Paths whose responses do not end. */
const STREAMS: readonly string[] = ['/queries/stream', '/status/stream'];
const QUERY: Readonly<Record<string, string>> = { '/explain': '?domain=blocked.example' };
const POLL_MS = 50;

const stack = new AsyncDisposableStack();
let weir: Weir;
let api: ApiClient;
let gate: DatabaseGate;
beforeAll(async () => {
  const tempDir = makeTempDir();
  stack.defer(() => tempDir.remove());
  const server = stack.use(await startSharedDatabase(tempDir.dataDir));
  gate = stack.use(await DatabaseGate.open(server.url));
  weir = stack.use(await Weir.start({ env: { WEIR_DATABASE_URL: gate.url } }));
  api = await weir.api();
  await api.expect(201, 'POST', '/managed-domains', { domain: 'blocked.example' });
  gate.set('refusing');
  await weir.untilHealth(({ checks }) => checks.database.status !== 'ok');
});
afterAll(() => stack.disposeAsync());

const reads = everyOperation.filter(({ method, path }) => method === 'GET' && !STREAMS.includes(path));

async function read(path: string) {
  const concrete = path.replaceAll(/\{[a-z_]+\}/g, '1') + (QUERY[path] ?? '');
  const url = `http://127.0.0.1:${String(weir.webPort)}/api${concrete}`;
  return httpCall('GET', url, undefined, `svc_session=${api.session}`);
}

describe('with PostgreSQL unreachable', () => {
  test.each(reads.map(({ path }) => path))(
    'GET %s is answered from memory, or with 503 and Retry-After',
    async (path) => {
      const { status, headers, text } = await read(path);
      if (FROM_MEMORY.has(path)) expect([path, status]).toEqual([path, UNKNOWN.has(path) ? 404 : 200]);
      else {
        expect([path, status, headers['retry-after']]).toEqual([path, 503, '5']);
        expect(JSON.parse(text)).toMatchObject({ error: 'unavailable' });
      }
    },
  );

  test('blocking can be paused for this node only; the audit log has the pause once PostgreSQL is back', async () => {
    using udp = await UdpClient.open(weir.dnsPort);
    const isBlocked = async (): Promise<boolean> =>
      (await udp.ask('blocked.example', 'A')).data[0] === '0.0.0.0';
    expect(await isBlocked()).toBe(true);
    await api.expect(503, 'POST', '/blocking', { enabled: false });
    expect(await api.expect(200, 'POST', '/blocking', { enabled: false, timer_secs: 3600 })).toMatchObject({
      enabled: false,
      this_node_only: true,
    });
    expect(await isBlocked()).toBe(false);
    expect(await api.expect(200, 'POST', '/blocking', { enabled: true, timer_secs: 1 })).toMatchObject({
      enabled: true,
    });
    expect(await isBlocked()).toBe(true);
    await until(
      'the switch to end',
      () => api.expect<Blocking>(200, 'GET', '/blocking'),
      (blocking) => !blocking.this_node_only,
      { pauseMs: POLL_MS },
    );
    await api.expect(200, 'POST', '/blocking', { enabled: false, timer_secs: 600 });
    gate.set('open');
    await weir.untilHealth(({ checks }) => checks.database.status === 'ok');
    const log = await until(
      'the entries of the audit log',
      () => api.expect<AuditLogPage>(200, 'GET', '/audit-log?subject=blocking'),
      ({ data }) => data.length > 0,
      { pauseMs: POLL_MS },
    );
    expect(log.data.map(({ action }) => action).toSorted()).toEqual([
      'enabled on this node',
      'paused on this node',
      'paused on this node',
    ]);
    expect(await isBlocked()).toBe(false);
    await api.expect(204, 'DELETE', '/blocking');
    expect(await isBlocked()).toBe(true);
  });
});
