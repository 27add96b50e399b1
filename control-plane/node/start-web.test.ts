import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Probe } from '../../shared/api/probes-api.ts';
import { QueryLogPage } from '../../shared/api/query-log-api.ts';
import { Rcode } from '../../shared/dns/iana.ts';
import { UdpClient } from '../../test/support/dns/dns-client.ts';
import { startTestDatabase } from '../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../test/support/parts/test-database.ts';
import { testNode } from '../../test/support/parts/test-node.ts';
import { until, within } from '../../test/support/parts/until.ts';
import { freePort } from '../../test/support/weir/free-ports.ts';
import { httpCall } from '../../test/support/weir/http-call.ts';
import type { Node } from './node.ts';
import { startDns } from './start-dns.ts';
import { startPolicy } from './start-policy.ts';
import { startWeb } from './start-web.ts';
import { stopInReverse } from './stopping.ts';

let own: TestDatabase;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterAll(() => own.stop());

const nodes: Node[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await stopInReverse(node.stops, node.logger);
});

/** Starts all parts except those that need the database. */
async function start(
  toml: string,
  { isWebNeeded = false } = {},
): Promise<{ node: Node; dnsPort: number; starting: Promise<number> }> {
  const dnsPort = await freePort(['127.0.0.1']);
  const node = testNode(own.database, own.dataDir, toml, dnsPort);
  nodes.push(node);
  const dns = await startDns(node);
  await dns.startThreads();
  const starting = startWeb(await startPolicy(dns), isWebNeeded);
  return { node, dnsPort, starting: starting.then(({ server }) => server.endpoints[0]?.port ?? 0) };
}

describe('startWeb()', () => {
  test('serves the API, in which a change is active when its response arrives', async () => {
    const { node, dnsPort, starting } = await start('auth.enabled = false');
    const webPort = await starting;
    expect(node.ownPorts.has(webPort)).toBe(true);
    const api = `http://127.0.0.1:${webPort}/api`;
    expect((await httpCall('GET', `${api}/health`)).status).toBe(200);
    const denied = { domain: 'games.example', action: 'deny', name: 'no games' };
    expect((await httpCall('POST', `${api}/managed-domains`, denied)).status).toBe(201);
    using udp = await UdpClient.open(dnsPort);
    expect((await udp.ask('games.example', 'A')).data).toEqual(['0.0.0.0']);
    const explained = await httpCall('GET', `${api}/explain?domain=games.example`);
    expect(JSON.parse(explained.text)).toMatchObject({ decided_by: { source: 'no games' } });
  });

  test('shows on /check that a device uses this node, even if the query log is off', async () => {
    const { dnsPort, starting } = await start('database.log_queries = false');
    const place = `http://127.0.0.1:${await starting}/check/probes`;
    const made = Probe.parse(JSON.parse((await httpCall('POST', place)).text));
    using udp = await UdpClient.open(dnsPort);
    expect((await udp.ask(made.name, 'A')).rcode).toBe(Rcode.NXDOMAIN);
    const check = async (): Promise<Probe> =>
      Probe.parse(JSON.parse((await httpCall('GET', `${place}/${made.id}`)).text));
    await until('the question of the device', check, ({ asked }) => asked);
    expect(await check()).toMatchObject({ client: '127.0.0.1', protocol: 'udp', queries: 1 });
  });

  test('explains a logged query by the policy of its time after the policy has changed', async () => {
    const { dnsPort, starting } = await start('auth.enabled = false');
    const api = `http://127.0.0.1:${await starting}/api`;
    const call = async (method: string, path: string, body?: object): Promise<{ id: number }> =>
      JSON.parse((await httpCall(method, api + path, body)).text || '{}') as { id: number };
    const denied = { domain: 'then.example', action: 'deny', name: 'earlier' };
    const { id: ruleId } = await call('POST', '/managed-domains', denied);
    // Waits until the generation counts as active, two seconds after its publication. A mocked clock would not be
    // enough, because modification times of files are also used.
    await sleep(2100);
    using udp = await UdpClient.open(dnsPort);
    expect((await udp.ask('then.example', 'A')).data).toEqual(['0.0.0.0']);
    await call('DELETE', `/managed-domains/${ruleId}`);
    const rows = async (): Promise<QueryLogPage> =>
      QueryLogPage.parse(await call('GET', '/queries?domain=then.example'));
    await until('the row of the query', rows, ({ data }) => data.length === 1);
    const explained = await call('GET', `/explain?query_id=${(await rows()).data[0]!.id}`);
    expect(explained).toMatchObject({
      ...{ status: 'BLOCKED_MANAGED', decided_by: { source: 'earlier' } },
      logged: { by: 'kept_generation', exact: true, reason: null },
    });
  });

  test('serves HTTPS with a self-signed certificate, and redirects HTTP to HTTPS', async () => {
    const paths = { cert: join(own.dataDir, 'tls/cert.pem'), key: join(own.dataDir, 'tls/key.pem') };
    const toml = `server.web_tls = { enabled = true, tls_cert_path = "${paths.cert}", tls_key_path = "${paths.key}" }`;
    const { node, starting } = await start(`${toml}\nauth.enabled = false`);
    const port = await starting;
    const ask = async (path: string): Promise<unknown> => {
      const ca = await readFile(paths.cert);
      const request = httpsRequest({ host: '127.0.0.1', port, path, ca, agent: false }).end();
      const [response] = (await within('the response', once(request, 'response'))) as [IncomingMessage];
      return json(response);
    };
    const status = { enabled: true, exists: true, valid: true, subject: `CN=${node.nodeName}, O=Weir` };
    expect(await ask('/api/tls/status')).toMatchObject(status);
    expect(await readFile(paths.key, 'utf8')).toContain('PRIVATE KEY');
    const plain = await fetch(`http://127.0.0.1:${port}/docs?x`, { redirect: 'manual' });
    expect([plain.status, plain.headers.get('location')]).toEqual([301, `https://127.0.0.1:${port}/docs?x`]);
  });

  test('fails if its port is in use and the process was started to take over', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const { starting } = await start(`server.web_port = ${port}`, { isWebNeeded: true });
    await expect(starting).rejects.toThrow(
      `could not listen for HTTP on 127.0.0.1:${port}: port ${port} is in use`,
    );
    holder.close();
  });
});
