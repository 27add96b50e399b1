/** Orders of a certificate from Pebble, with BIND for the names, a real database and real files. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../shared/clock.ts';
import { AcmeServer, TSIG_NAME } from '../../../test/support/dns/acme-server.ts';
import { UdpClient } from '../../../test/support/dns/dns-client.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { openSuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { loadedConfig } from '../../../test/support/parts/test-config.ts';
import type { Config } from '../../../config/schema.ts';
import { SYSTEM } from '../../api/caller.ts';
import { JobLeases } from '../../storage/cluster/leases.ts';
import { CertificateFiles } from '../tls/certificate-files.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import { WebCertificate } from '../tls/web-certificate.ts';
import { accountKeyPath } from './account-key.ts';
import { AcmeCertificate } from './acme-certificate.ts';
import { HttpChallenges } from './http-challenges.ts';

const HOUR_MS = 3_600_000;
/** The clock does not advance during an order, so it is set ahead first: a new certificate must already be valid. */
const AHEAD_MS = 60_000;
const USER = { name: 'anna', address: null };

let server: AcmeServer;
let suite: SuiteDatabase;
let folder: string;
let config: Config;
let nowMs: number;
let logger: MemoryLogger;
let certificate: WebCertificate;
let shared: CertificatePair[];
let acme: AcmeCertificate;
let stops: (() => Promise<void>)[];

beforeAll(async () => {
  [server, suite] = await Promise.all([AcmeServer.start(), openSuiteDatabase()]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await suite.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-acme-'));
  await suite.reset();
  [logger, shared, stops, nowMs] = [new MemoryLogger(), [], [], Date.now() + AHEAD_MS];
  configure({});
  const files = new CertificateFiles({ cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') });
  certificate = new WebCertificate({ files, names: () => ['weir.test'], clock: systemClock, logger });
  await certificate.open();
  acme = node();
});
afterEach(async () => {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true });
});

/** Settings of `server.acme` that differ from those of most tests. */
function configure(more: Readonly<Record<string, unknown>>): void {
  const settings = {
    directory_url: server.directoryUrl,
    directory_ca_path: server.caPath,
    names: ['weir.example.org'],
    terms_agreed: true,
    http_port: server.httpPort,
    dns_server: `127.0.0.1:${server.dnsPort}`,
    dns_wait_secs: 0,
    tsig_name: TSIG_NAME,
    tsig_key_file: server.tsigPath,
    ...more,
  };
  const lines = Object.entries(settings).map(
    ([key, value]) => `server.acme.${key} = ${JSON.stringify(value)}`,
  );
  config = loadedConfig([`server.bind_address = ["127.0.0.1"]`, ...lines].join('\n')).config;
}

/** A node with its own leases and account. */
function node(number = 1): AcmeCertificate {
  const made = new AcmeCertificate({
    configuration: { current: () => config },
    ...{ certificate, logger, database: suite.database },
    sharedCertificate: { share: async (_tx, pair) => void shared.push(pair) },
    challenges: new HttpChallenges(),
    jobs: new JobLeases({
      ...{ database: suite.database, logger },
      node: `00000000-0000-4000-8000-00000000000${number}`,
    }),
    dataDir: join(folder, `node${number}`),
    version: '0.0.0-test',
    ownPorts: new Set(),
    clock: { nowMs: () => nowMs, monotonicMs: () => 0 },
    random: () => 0,
    pollMs: 50,
  });
  stops.push(made.start());
  return made;
}

/** Orders a certificate; returns the reason of a failure, or null. */
async function order(by = acme): Promise<string | null> {
  expect(by.begin(USER)).toBe(true);
  await by.settled();
  return by.state().fault;
}

describe('an ACME order', () => {
  test('proves control of a name over HTTP and activates the certificate on all nodes', async () => {
    expect(await order()).toBeNull();
    const pair = certificate.current()!;
    expect(pair.facts).toMatchObject({ names: ['weir.example.org'], isSelfSigned: false });
    expect(pair.facts.issuer).toContain('Pebble');
    expect(shared).toEqual([pair]);
    expect(await readFile(join(folder, 'cert.pem'), 'utf8')).toBe(pair.cert);
    const { rows } = await suite.database.query(`SELECT actor, action, subject FROM audit_log`);
    expect(rows).toEqual([{ actor: 'anna', action: 'changed', subject: 'web certificate' }]);
  });

  test('proves control of a wildcard name by a DNS update, and removes the records afterwards', async () => {
    configure({ challenge: 'dns-01', names: ['*.dns.example.org', 'DNS.example.org'] });
    expect(await order()).toBeNull();
    expect(certificate.current()!.facts.names.toSorted()).toEqual(['*.dns.example.org', 'dns.example.org']);
    using udp = await UdpClient.open(server.dnsPort);
    expect((await udp.ask('_acme-challenge.dns.example.org', 'TXT')).answers).toEqual([]);
  });

  test('stores the account key readable only by its owner, and reuses the key', async () => {
    expect(await order()).toBeNull();
    const path = accountKeyPath(join(folder, 'node1'), server.directoryUrl);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const key = await readFile(path, 'utf8');
    const first = certificate.current()!;
    expect(await order()).toBeNull();
    expect(await readFile(path, 'utf8')).toBe(key);
    expect(certificate.current()!.key).not.toBe(first.key);
  });
});

describe('a failed ACME order', () => {
  let before: CertificatePair;
  beforeEach(() => {
    before = certificate.current()!;
  });
  afterEach(() => {
    expect(certificate.current()).toBe(before);
    expect(shared).toEqual([]);
    expect(logger.text()).not.toContain('PRIVATE KEY');
  });

  test.each([
    ['names that the server refuses', { names: ['refused.example.org'] }, /policy|forbids|blocklist/i],
    ['a name that leads elsewhere', { names: ['weir.example.net'] }, /^weir\.example\.net: /],
    ['terms without agreement', { terms_agreed: false }, /server\.acme\.terms_agreed/],
    [
      'a directory that is away',
      { directory_url: 'https://127.0.0.1:9/dir' },
      /127\.0\.0\.1:9 cannot be reached/,
    ],
    ['a server whose certificate is unknown', { directory_ca_path: '' }, /cannot be reached: .*certificate/],
    ['an authority without a file', { directory_ca_path: '/nowhere' }, /server\.acme\.directory_ca_path/],
    ['a TSIG key without a file', { challenge: 'dns-01', tsig_key_file: '/nowhere' }, /tsig_key_file/],
    [
      'an unsigned update',
      { challenge: 'dns-01', tsig_name: '', tsig_key_file: '' },
      /does not allow this key/,
    ],
    ['an unknown TSIG key', { challenge: 'dns-01', tsig_name: 'other' }, /NOTAUTH/],
    ['another TSIG algorithm', { challenge: 'dns-01', tsig_algorithm: 'hmac-sha512' }, /NOTAUTH/],
    [
      'a zone that the DNS server lacks',
      { challenge: 'dns-01', names: ['a.example.net'] },
      /has no zone for/,
    ],
    ['a DNS server that is away', { challenge: 'dns-01', dns_server: '127.0.0.1:9' }, /127\.0\.0\.1 port 9/],
  ])('fails with a message about %s', async (_what, settings, expected) => {
    configure(settings);
    expect(await order()).toMatch(expected);
    expect(acme.state()).toMatchObject({ step: null, failures: 1, endedMs: nowMs });
  });

  test('reports a directory URL that does not return an ACME directory', async () => {
    configure({ directory_url: server.directoryUrl.replace('/dir', '/nothing') });
    expect(await order()).toMatch(/directory/);
  });

  test('names the port that cannot be opened', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    configure({ http_port: port });
    expect(await order()).toMatch(new RegExp(`port ${port}: .*server\\.acme\\.http_port`));
    taken.close();
  });

  test('does not overwrite a damaged account key', async () => {
    const path = accountKeyPath(join(folder, 'node1'), server.directoryUrl);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, 'damaged');
    expect(await order()).toMatch(/is not a P-256 key; restore it/);
    expect(await readFile(path, 'utf8')).toBe('damaged');
  });
});

test('a second concurrent order is rejected on the same node, and not begun on another node', async () => {
  const other = node(2);
  expect(acme.begin(USER)).toBe(true);
  expect(acme.begin(USER)).toBe(false);
  expect(other.begin(USER)).toBe(true);
  await Promise.all([acme.settled(), other.settled()]);
  const faults = [acme.state().fault, other.state().fault];
  expect(faults).toContain(null);
  expect(faults.find((fault) => fault !== null)).toMatch(/another node/);
  expect(shared).toHaveLength(1);
});

describe('ACME renewals', () => {
  test('are due when a third of the lifetime remains, only for a certificate of the configured names', async () => {
    expect(acme.state().nextMs).toBeNull();
    expect(await order()).toBeNull();
    const { notBefore, notAfter } = certificate.current()!.facts;
    const dueMs = notAfter.getTime() - (notAfter.getTime() - notBefore.getTime()) / 3;
    expect(acme.state().nextMs).toBe(dueMs);
    configure({ names: ['weir.example.org', 'other.example.org'] });
    expect(acme.state().nextMs).toBeNull();
  });

  test('start automatically, and at growing intervals after failures', async () => {
    expect(await order()).toBeNull();
    const first = certificate.current()!;
    const renew = async (): Promise<void> => {
      acme.renewIfDue();
      await acme.settled();
    };
    nowMs = acme.state().nextMs! - 1;
    await renew();
    expect(certificate.current()).toBe(first);
    nowMs += 1;
    configure({ directory_url: 'https://127.0.0.1:9/dir' });
    await renew();
    expect(acme.state()).toMatchObject({ failures: 1, nextMs: nowMs + HOUR_MS });
    nowMs += HOUR_MS;
    await renew();
    expect(acme.state()).toMatchObject({ failures: 2, nextMs: nowMs + 2 * HOUR_MS });
    await renew();
    expect(acme.state().failures).toBe(2);
  });
});

test('an ACME order ends when Weir stops, and is not logged as a failure', async () => {
  acme.begin(SYSTEM);
  for (const stop of stops.splice(0)) await stop();
  expect(acme.state().step).toBeNull();
  expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
});
