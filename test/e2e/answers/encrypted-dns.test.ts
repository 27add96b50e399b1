/**
 * DNS over TLS and HTTPS, and the PROXY header, of a complete Weir server with third-party clients.
 *
 * @needs curl bind9-dnsutils knot-dnsutils
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { frame } from '../../../shared/dns/framing.ts';
import { TestAuthority } from '../../support/dns/certificates.ts';
import { TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { query, Reply } from '../../support/dns/dns-message.ts';
import { DohClient, dohPath } from '../../support/dns/doh-client.ts';
import { DotClient } from '../../support/dns/dot-client.ts';
import { until, within } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { closeOf } from '../../support/weir/socket-ends.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const run = promisify(execFile);
const LOCAL = 'local_records = ["here.home.example A 192.0.2.20"]';
const ASKED = query('here.home.example', 'A', { id: 0 });
const SERVER_NAME = 'dns.example.org';

/** Record data in the DNS response that curl wrote to standard output. */
const answered = (stdout: Buffer): readonly unknown[] => new Reply(new Uint8Array(stdout), '').data;

describe('weir with encrypted DNS', () => {
  let weir: Weir;
  let api: ApiClient;
  let ports: { dot: number; doh: number };

  beforeAll(async () => {
    ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
    weir = await Weir.start({
      toml: `${encryptedToml(ports)}[server.web_tls]
tls_cert_path = "certificate.pem"
tls_key_path = "key.pem"
[dns]
${LOCAL}
`,
    });
    api = await weir.api();
  });
  afterAll(() => weir.stop());

  test('answers kdig over TLS, with padding if the query is padded (RFC 7858, RFC 8467)', async () => {
    const args = ['@127.0.0.1', '-p', String(ports.dot), '+tls', '+padding', 'here.home.example', 'A'];
    const { stdout } = await run('kdig', args);
    expect(stdout).toMatch(/status: NOERROR/);
    expect(stdout).toMatch(/192\.0\.2\.20/);
    expect(stdout).toMatch(/PADDING/);
    expect(stdout).toMatch(/Received 468 B/);
  });

  test('answers kdig over HTTPS, by POST and by GET (RFC 8484)', async () => {
    for (const method of ['+https', '+https-get'].map((each) =>
      each === '+https' ? [each] : ['+https', each],
    )) {
      const args = ['@127.0.0.1', '-p', String(ports.doh), ...method, 'here.home.example', 'A'];
      const { stdout } = await run('kdig', args);
      expect(stdout).toMatch(/192\.0\.2\.20/);
    }
  });

  test.each(['--http2', '--http1.1'])('answers curl %s over HTTPS', async (version) => {
    const url = `https://127.0.0.1:${ports.doh}${dohPath(ASKED)}`;
    const { stdout } = await run('curl', ['-sSk', version, url], { encoding: 'buffer' });
    expect(answered(stdout)).toEqual(['192.0.2.20']);
  });

  test('answers DNS over HTTPS on the web port', async () => {
    const web = `http://127.0.0.1:${weir.webPort}`;
    const { stdout } = await run('curl', ['-sS', `${web}${dohPath(ASKED)}`], { encoding: 'buffer' });
    expect(answered(stdout)).toEqual(['192.0.2.20']);
    const type = 'content-type: application/dns-message';
    const sent = {
      method: 'POST',
      body: Buffer.from(ASKED),
      headers: { 'content-type': type.split(' ')[1]! },
    };
    const response = await fetch(`${web}/dns-query`, sent);
    expect([response.status, response.headers.get('cache-control')]).toEqual([
      200,
      expect.stringMatching(/^private, max-age=\d+$/),
    ]);
    const statuses = [
      await fetch(`${web}/dns-query`),
      await fetch(`${web}/dns-query`, { method: 'POST', body: 'x' }),
      await fetch(`${web}/dns-query`, { method: 'PUT' }),
      await fetch(`${web}/dns-query`, { ...sent, body: Buffer.alloc(5000) }),
      await fetch(`${web}/dns-query`, { ...sent, body: Buffer.from([1]) }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 415, 405, 413, 400]);
  });

  test('logs the transport protocol of each query', async () => {
    const dot = await DotClient.open(ports.dot);
    await dot.ask('dot.home.example', 'A');
    dot.close();
    await api.untilQueryCount(1, 'protocol=dot&domain=dot.home.example');
    await api.untilQueryCount(1, 'protocol=doh&domain=here.home.example');
  });

  test('uses a new certificate for new connections immediately, over TLS and HTTPS', async () => {
    const before = await DotClient.open(ports.dot);
    await api.expect(200, 'POST', '/tls/generate?force=true');
    const after = await DotClient.open(ports.dot);
    expect(after.fingerprint).not.toBe(before.fingerprint);
    // The connection that was opened before the change still works.
    expect((await before.ask('here.home.example', 'A')).data).toEqual(['192.0.2.20']);
    for (const client of [before, after]) client.close();
  });

  test('answers over TLS and HTTPS after a worker thread has died', async () => {
    const replaced = weir.replacedThreads;
    weir.injectFault(0, 'resolve', 'exit');
    await until(
      'a thread to be replaced',
      () => weir.replacedThreads,
      (count) => count > replaced,
    );
    // The next test halts the control plane, so the control plane must have sent the certificate to the new thread
    // before.
    await weir.untilHealth(({ checks }) => checks.dns.status === 'ok');
    await until(
      'an answer over TLS',
      async () => {
        const dot = await DotClient.open(ports.dot).catch(() => null);
        const reply = await dot?.ask('here.home.example', 'A').catch(() => null);
        dot?.close();
        return reply?.data[0];
      },
      (data) => data === '192.0.2.20',
    );
  });

  test('keeps answering over every protocol while the control plane is halted, on old and new connections', async () => {
    const open = await DotClient.open(ports.dot);
    await weir.haltControlPlane();
    let isWebAnswering = false;
    const web = fetch(`http://127.0.0.1:${weir.webPort}/api/health`).then(
      () => (isWebAnswering = true),
      () => undefined,
    );
    const dot = await DotClient.open(ports.dot);
    const doh = new DohClient(ports.doh);
    using udp = await UdpClient.open(weir.dnsPort);
    const tcp = await TcpClient.open(weir.dnsPort);
    const data = [
      (await open.ask('here.home.example', 'A')).data,
      (await dot.ask('here.home.example', 'A')).data,
      answered((await doh.get(ASKED)).body),
      (await udp.ask('here.home.example', 'A')).data,
      (await tcp.ask('here.home.example', 'A')).data,
    ];
    expect(data).toEqual(data.map(() => ['192.0.2.20']));
    expect(isWebAnswering).toBe(false);
    for (const client of [open, dot, doh]) client.close();
    await tcp.close();
    await weir.end('SIGKILL');
    await within('the end of a request to a halted control plane', web);
  });
});

/** A PROXY protocol v2 header for 192.0.2.99. */
const PROXY_HEADER = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000263c633640112340035', 'hex');

describe('weir behind a load balancer, with a separate certificate for DNS', () => {
  let weir: Weir;
  let authority: TestAuthority;
  let ports: { dot: number; doh: number };

  beforeAll(async () => {
    authority = new TestAuthority();
    const { certPath, keyPath } = authority.issue(`DNS:${SERVER_NAME}`);
    ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
    weir = await Weir.start({
      env: {
        WEIR_SERVER_PROXY_PROTOCOL_ENABLED: 'true',
        WEIR_SERVER_PROXY_PROTOCOL_TRUSTED: '["127.0.0.9"]',
      },
      toml: `${encryptedToml(ports, { certPath, keyPath })}[dns]
${LOCAL}
`,
    });
  });
  afterAll(async () => {
    await weir.stop();
    authority.close();
  });

  test('serves the certificate of server.encrypted_dns', async () => {
    const checked = { ca: authority.cert, servername: SERVER_NAME, rejectUnauthorized: true };
    const dot = await DotClient.open(ports.dot, checked);
    expect((await dot.ask('here.home.example', 'A')).data).toEqual(['192.0.2.20']);
    dot.close();
    const doh = new DohClient(ports.doh, authority.cert, SERVER_NAME);
    expect(answered((await doh.get(ASKED)).body)).toEqual(['192.0.2.20']);
    doh.close();
  });

  test('identifies the client by the PROXY header of a trusted load balancer, over TCP and TLS', async () => {
    const from = async (port: number) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' });
      await within('a TCP connection', once(socket, 'connect'));
      socket.write(PROXY_HEADER);
      return socket;
    };
    const tcp = await from(weir.dnsPort);
    tcp.write(frame(query('tcp.proxied.example', 'A')));
    await within('an answer over TCP', once(tcp, 'data'));
    const dot = await DotClient.open(0, {}, await from(ports.dot));
    await dot.ask('dot.proxied.example', 'A');
    tcp.destroy();
    dot.close();
    const api = await weir.api();
    const rows = async () => {
      const found = await api.queries('domain=proxied.example');
      return found.map(({ domain, client }) => `${domain} ${client}`).toSorted();
    };
    const found = await until('two rows of the log', rows, ({ length }) => length === 2);
    expect(found).toEqual(['dot.proxied.example 192.0.2.99', 'tcp.proxied.example 192.0.2.99']);
  });

  test('announces its encrypted resolvers to clients of plain DNS (RFC 9462)', async () => {
    const { stdout } = await run('kdig', [
      '@127.0.0.1',
      '-p',
      String(weir.dnsPort),
      '_dns.resolver.arpa',
      'TYPE64',
    ]);
    expect(stdout).toMatch(/status: NOERROR/);
    expect(stdout).toMatch(/ANSWER: 2/);
  });

  test('reports its state in class CHAOS TXT records (status.weir) to load balancers on loopback', async () => {
    const args = (name: string) => [
      ...['@127.0.0.1', '-p', String(weir.dnsPort), '+short', 'CH', 'TXT', name],
    ];
    expect((await run('dig', args('status.weir'))).stdout.trim()).toBe('"ready"');
    expect((await run('dig', args('version.bind'))).stdout).toMatch(/^"Weir \d/);
    expect((await run('dig', args('authors.bind'))).stdout.trim()).toBe('');
  });

  test('closes the connection of an untrusted client that sends a PROXY header', async () => {
    const socket = connect({ port: weir.dnsPort, host: '127.0.0.1' });
    const closed = closeOf(socket.resume());
    socket.write(PROXY_HEADER);
    await closed;
    const direct = await TcpClient.open(weir.dnsPort);
    expect((await direct.ask('here.home.example', 'A')).data).toEqual(['192.0.2.20']);
    await direct.close();
  });
});
