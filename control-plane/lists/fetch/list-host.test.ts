/** Tests to which hosts fetches may connect; HTTP servers on loopback addresses represent all hosts. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FETCH_LIMITS } from './fetch-limits.ts';
import { fetchList } from './fetch-list.ts';
import type { FetchOutcome } from './fetch-list.ts';
import type { Lookup } from './list-host.ts';
import { boundedLookup } from './list-host.ts';

let folder: string;
let server: Server;
let other: Server;
let port: number;
let otherPort: number;
/** Target of the first server's redirect at `/away`. */
let location: string;
let asked: string[];
let ownPorts: Set<number>;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
    if (request.url === '/away') response.writeHead(302, { Location: location }).end();
    else response.end('0.0.0.0 ads.example\n');
  });
  other = createServer((_request, response) => {
    asked.push('other');
    response.end('0.0.0.0 ads.example\n');
  });
  port = await listen(server, '0.0.0.0');
  otherPort = await listen(other, '127.0.0.1');
});
afterAll(() => {
  server.close();
  other.close();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-hosts-'));
  asked = [];
  ownPorts = new Set();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function listen(one: Server, address: string): Promise<number> {
  await new Promise<void>((resolve) => one.listen(0, address, resolve));
  return (one.address() as AddressInfo).port;
}

/** A resolver that returns these addresses for every name. */
function answering(...addresses: readonly string[]): Lookup {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

function fetchFrom(url: string, lookup: Lookup = answering('127.0.0.1')): Promise<FetchOutcome> {
  return fetchList({
    url,
    validators: { etag: null, lastModified: null },
    path: join(folder, 'list.tmp'),
    listDirs: [],
    bounds: { localDomain: () => 'Home.example', ownPorts: () => ownPorts },
    signal: new AbortController().signal,
    limits: { ...FETCH_LIMITS, connectMs: 5000 },
    lookup,
  });
}

async function expectRefused(url: string, lookup?: Lookup): Promise<void> {
  await expect(fetchFrom(url, lookup)).rejects.toMatchObject({ name: 'ListError', code: 'refused_host' });
}

describe('a list URL that a user entered', () => {
  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
  ])('may contain a local address: %s', async (host) => {
    await expect(fetchFrom(`http://${host}:${port}/`)).resolves.toMatchObject({ type: 'fetched' });
  });

  test.each([
    'localhost',
    'nas',
    'nas.',
    'nas.local',
    'nas.LAN',
    'lists.home.arpa.',
    'nas.internal',
    'nas.home.example',
    'HOME.example',
  ])('may contain a local name: %s', async (host) => {
    await expect(fetchFrom(`http://${host}:${port}/`)).resolves.toMatchObject({ type: 'fetched' });
  });

  test.each([
    'lists.example',
    'nas.local.example',
    'localhost.example',
    'nashome.example',
    'internal.example.',
    'xn--nas-lan.example',
  ])('with a public name is refused if the name resolves to a local address: %s', async (host) => {
    for (const address of [
      '127.0.0.1',
      '::1',
      '10.0.0.1',
      '192.168.0.1',
      '100.64.0.1',
      'fd00::1',
      '::ffff:127.0.0.1',
    ])
      await expectRefused(`http://${host}:${port}/`, answering(address));
    expect(asked).toEqual([]);
  });

  test('with a public name is connected to only at the public addresses that were checked', async () => {
    const lookup = answering('127.0.0.1', '198.51.100.7', 'fe80::1', '2001:db8::7');
    const url = new URL('http://lists.example/');
    const bounds = { localDomain: () => '', ownPorts: () => ownPorts };
    const find = boundedLookup(url, url, { bounds, lookup });
    const found = new Promise((resolve) => find('lists.example', { all: true }, (_, all) => resolve(all)));
    expect(await found).toEqual([
      { address: '198.51.100.7', family: 4 },
      { address: '2001:db8::7', family: 6 },
    ]);
    const one = new Promise((resolve) => find('lists.example', {}, (_, address) => resolve(address)));
    expect(await one).toBe('198.51.100.7');
  });

  test.each([
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0.0.0.0',
    '0',
    '[::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::1]',
    '255.255.255.255',
  ])('is refused with the address %s', async (host) => {
    await expectRefused(`http://${host}:${port}/`);
    expect(asked).toEqual([]);
  });

  test.each(['169.254.169.254', 'fe80::1%eth0', '0.0.0.0', '::', 'fd00:ec2::254', '100.100.100.200'])(
    'is refused if its name, even a local name, resolves to %s',
    async (address) => {
      for (const host of ['lists.example', 'metadata.google.internal', 'nas'])
        await expectRefused(`http://${host}:${port}/`, answering(address));
      expect(asked).toEqual([]);
    },
  );

  test("is refused with one of Weir's own ports on any address of this machine", async () => {
    ownPorts = new Set([port]);
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ address }) => !address.startsWith('fe80'));
    for (const { address, family } of own) {
      await expectRefused(`http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`);
      await expectRefused(`http://nas:${port}/`, answering(address));
      await expectRefused(`http://lists.example:${port}/`, answering(address));
    }
    await expectRefused(`http://127.77.0.1:${port}/`);
    expect(asked).toEqual([]);
    await expect(fetchFrom(`http://127.0.0.1:${otherPort}/`)).resolves.toMatchObject({ type: 'fetched' });
  });
});

describe('a redirect of a list URL', () => {
  test.each([
    ['another port of the same address', () => `http://127.0.0.1:${otherPort}/`],
    ['another local address', () => `http://127.0.0.2:${port}/`],
    ['a local name', () => `http://nas:${otherPort}/`],
    ['another name that leads to a local address', () => `http://lists.example:${otherPort}/`],
    ['a metadata service', () => 'http://169.254.169.254/latest/meta-data'],
    ['an IPv4-mapped IPv6 address', () => `http://[::ffff:127.0.0.1]:${otherPort}/`],
    ['an address written as a number', () => `http://2130706433:${otherPort}/`],
  ])('to %s is refused', async (_what, target) => {
    location = target();
    await expectRefused(`http://127.0.0.1:${port}/away`);
    expect(asked).toEqual([`127.0.0.1:${port}/away`]);
  });

  test('to the entered host is followed', async () => {
    location = '/list';
    await expect(fetchFrom(`http://nas:${port}/away`)).resolves.toMatchObject({ type: 'fetched' });
    expect(asked).toEqual([`nas:${port}/away`, `nas:${port}/list`]);
  });
});
