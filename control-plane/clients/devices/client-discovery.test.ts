/** Discovery over a real database and real lease files; the test controls time and traffic. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import type { Clock } from '../../../shared/clock.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { Database } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { macIdentity } from '../../../shared/net/mac.ts';
import { ClientDirectory } from './client-directory.ts';
import type { Sighting } from './client-record.ts';
import { ClientDiscovery } from './client-discovery.ts';
import { askDevice, askInTurn, HostNames, isPrivate } from './host-names.ts';
import { LeaseWatch } from './lease-watch.ts';
import type { Neighbour } from '../../../shared/net/kernel/neighbour-messages.ts';

const MAC = '02:00:5e:10:00:01';
const MINUTE_MS = 60_000;

let served: TestDatabase;
beforeAll(async () => {
  served = await startTestDatabase();
});
afterAll(() => served.stop());

let nowMs: number;
let aheadMs = 0;
const clock: Clock = { nowMs: () => nowMs + aheadMs, monotonicMs: () => nowMs };
let directory: ClientDirectory;
let discovery: ClientDiscovery;
let sightings: Sighting[];
let neighbours: Neighbour[];
let wanted: string[];
let applications: number;
let leasePaths: string[];
let ruleClients: string[];
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 15, 12);
  await asOwner(served.database, 'TRUNCATE clients CASCADE');
  leasePaths = [];
  ruleClients = [];
  start(served.database);
  await discovery.load();
  // Reset: the policy contains each MAC immediately, and an address only after it was seen.
  applications = 0;
});

/** Starts from scratch, with nothing in memory. */
function start(database: Database): void {
  directory = new ClientDirectory();
  [sightings, neighbours, wanted] = [[], [], []];
  applications = 0;
  const logger = new MemoryLogger();
  discovery = new ClientDiscovery({
    directory,
    database,
    clock,
    logger,
    sweep: () => sightings.splice(0),
    neighbours: () => neighbours,
    leases: new LeaseWatch({ paths: () => leasePaths, clock, logger }),
    hostNames: { want: (address) => void wanted.push(address) },
    macClients: () => [{ mac: MAC, groupId: 1 }],
    ruleClients: () => ruleClients,
    applyLive: async () => {
      applications++;
    },
    keepDays: () => 30,
  });
}

async function saw(address: string, queries = 1): Promise<void> {
  sightings.push({ address, queries, lastSeenMs: nowMs });
  await discovery.check();
}

interface Row {
  readonly ip: string;
  readonly mac: string | null;
  readonly hostname: string | null;
  readonly queries: number;
}

async function rows(): Promise<Row[]> {
  const { rows: found } = await served.database.query<Row>(
    `SELECT host(ip_address) AS ip, mac_address::text AS mac, hostname, query_count::integer AS queries
     FROM clients ORDER BY ip_address`,
  );
  return found;
}

describe('ClientDiscovery', () => {
  test('stores new clients immediately, and the counts of known clients once a minute', async () => {
    await saw('192.0.2.7', 3);
    expect(await rows()).toEqual([{ ip: '192.0.2.7', mac: null, hostname: null, queries: 3 }]);
    await saw('192.0.2.7', 4);
    expect((await rows())[0]).toMatchObject({ queries: 3 });
    nowMs += MINUTE_MS;
    await discovery.check();
    expect((await rows())[0]).toMatchObject({ queries: 7 });
    expect(directory.all()[0]).toMatchObject({ storedQueries: 7, newQueries: 0 });
  });

  test('stores the first query with a client key immediately, and later ones once a minute', async () => {
    const { rows: made } = await served.database.query<{ id: number }>(
      `INSERT INTO clients (client_key) VALUES ('annas-phone') RETURNING id`,
    );
    const clientId = made[0]!.id;
    await discovery.load();
    const seen = async (): Promise<object[]> => {
      sightings.push({ address: '', clientId, queries: 1, lastSeenMs: nowMs });
      await discovery.check();
      const { rows: found } = await served.database.query(
        'SELECT client_key AS key, first_seen AS first, last_seen AS last FROM client_key_sightings',
      );
      return found;
    };
    const first = new Date(nowMs);
    expect(await seen()).toEqual([{ key: 'annas-phone', first, last: first }]);
    nowMs += 1000;
    expect(await seen()).toEqual([{ key: 'annas-phone', first, last: first }]);
    nowMs += MINUTE_MS;
    expect(await seen()).toEqual([{ key: 'annas-phone', first, last: new Date(nowMs) }]);
  });

  test('stores everything when it stops, and loads it when it starts again', async () => {
    neighbours = [{ address: '192.0.2.7', mac: MAC }];
    await saw('192.0.2.7', 3);
    sightings.push({ address: '192.0.2.7', queries: 5, lastSeenMs: nowMs });
    await discovery.stop();
    expect(await rows()).toEqual([{ ip: '192.0.2.7', mac: MAC, hostname: null, queries: 8 }]);
    start(served.database);
    await discovery.load();
    expect(directory.all()).toMatchObject([{ mac: MAC, storedQueries: 8, lastSeenMs: nowMs }]);
    // The client stays at its address until the kernel reports another MAC there.
    expect(directory.at('192.0.2.7')).toMatchObject({ mac: MAC });
    expect(applications).toBe(1);
  });

  test('applies an address when the kernel reports its MAC, and applies no address twice', async () => {
    neighbours = [{ address: '192.0.2.7', mac: MAC }];
    await saw('192.0.2.7');
    await saw('192.0.2.7');
    expect(applications).toBe(1);
    neighbours = [...neighbours, { address: '2001:db8::7', mac: MAC }];
    await saw('2001:db8::7');
    expect(applications).toBe(2);
    expect(await rows()).toHaveLength(1);
    // A device without its own group.
    neighbours = [...neighbours, { address: '192.0.2.9', mac: '02:00:5e:10:00:09' }];
    await saw('192.0.2.9');
    expect(applications).toBe(2);
  });

  test('applies the addresses of clients that rules name by MAC, given name or host name', async () => {
    ruleClients = ['02:00:5e:10:00:09', 'tablet', 'laptop'];
    neighbours = [
      { address: '192.0.2.9', mac: '02:00:5e:10:00:09' },
      { address: '2001:db8::9', mac: '02:00:5e:10:00:09' },
    ];
    await saw('192.0.2.9');
    expect(applications).toBe(1);
    await saw('192.0.2.7');
    await saw('192.0.2.8');
    await saw('192.0.2.6');
    expect(applications).toBe(1);
    directory.nameHost(directory.at('192.0.2.7')!, 'Tablet.lan');
    directory.nameHost(directory.at('192.0.2.8')!, 'laptop');
    nowMs += 5000;
    await discovery.check();
    expect(applications).toBe(2);
    const where = () => directory.locateNamed(ruleClients).map(({ addresses }) => addresses.toSorted());
    const anywhere = macIdentity(ruleClients[0]!);
    expect(where()).toEqual([['192.0.2.9', '2001:db8::9', anywhere], ['192.0.2.7'], ['192.0.2.8']]);
    // A name that a user has set takes precedence over the name that a device reports.
    directory.at('192.0.2.6')!.name = 'Tablet';
    expect(where()[1]).toEqual(['192.0.2.6']);
    nowMs += 5000;
    await discovery.check();
    nowMs += 5000;
    await discovery.check();
    expect(applications).toBe(3);
    expect(directory.locateNamed(['unknown'])).toEqual([{ name: 'unknown', addresses: [] }]);
  });

  test('detects within seconds that a known address belongs to another device', async () => {
    neighbours = [{ address: '192.0.2.7', mac: MAC }];
    await saw('192.0.2.7');
    neighbours = [{ address: '192.0.2.7', mac: '02:00:5e:10:00:02' }];
    nowMs += 5000;
    await saw('192.0.2.7');
    expect(applications).toBe(2);
    expect((await rows()).map(({ mac }) => mac)).toEqual([MAC, '02:00:5e:10:00:02']);
  });

  test('keeps its observations while the database is down, and stores them when it is up', async () => {
    let isDown = false;
    const { database } = served;
    const failing: Database = {
      query: (text, values) =>
        isDown ? Promise.reject(new DatabaseUnavailable('gone')) : database.query(text, values),
      status: () => database.status(),
      onStatus: (listener) => database.onStatus(listener),
      listen: (channel, listener) => database.listen(channel, listener),
      isListening: (channel) => database.isListening(channel),
      watch: (watch) => database.watch(watch),
      whenUp: () => database.whenUp(),
      transaction: (work) => database.transaction(work),
      transactionInTurn: (lock, work) => database.transactionInTurn(lock, work),
      transactionAsOwner: (work) => database.transactionAsOwner(work),
      copyOut: (query) => database.copyOut(query),
      background: () => database.background(),
      target: () => database.target(),
      withClient: (work) => database.withClient(work),
      giveUpUnlessAnswering: (withinMs) => database.giveUpUnlessAnswering(withinMs),
      close: () => database.close(),
    };
    start(failing);
    await discovery.load();
    isDown = true;
    await saw('192.0.2.7', 3);
    await saw('192.0.2.7', 4);
    expect(await rows()).toEqual([]);
    isDown = false;
    await discovery.check();
    expect(await rows()).toMatchObject([{ ip: '192.0.2.7', queries: 7 }]);
  });

  test('removes clients without a given name or group together with the last of their log rows', async () => {
    await saw('192.0.2.7');
    await saw('192.0.2.8');
    await served.database.query(`UPDATE clients SET name = 'TV' WHERE ip_address = '192.0.2.8'`);
    nowMs += 31 * 24 * 60 * MINUTE_MS;
    await discovery.check();
    expect((await rows()).map(({ ip }) => ip)).toEqual(['192.0.2.8']);
    expect(directory.at('192.0.2.7')).toBeUndefined();
  });

  test('applies client settings that another node stored, and keeps its own observations', async () => {
    await saw('192.0.2.7', 3);
    sightings.push({ address: '192.0.2.7', queries: 5, lastSeenMs: nowMs });
    await discovery.check();
    await served.database.query(
      `UPDATE clients SET name = 'tv'; INSERT INTO clients (mac_address, name) VALUES ('${MAC}', 'radio')`,
    );
    await discovery.followSettings();
    expect(directory.all()).toMatchObject([
      { ip: '192.0.2.7', name: 'tv', storedQueries: 3, newQueries: 5 },
      { mac: MAC, name: 'radio' },
    ]);
    await served.database.query(
      `UPDATE clients SET name = NULL WHERE name = 'tv'; DELETE FROM clients WHERE name = 'radio'`,
    );
    await discovery.followSettings();
    expect(directory.all()).toMatchObject([{ ip: '192.0.2.7', name: null, newQueries: 5 }]);
    // The client is deleted, discovered again by another node, and restored.
    await served.database.query(
      `DELETE FROM clients; INSERT INTO clients (id, ip_address, name) VALUES (9999, '192.0.2.7', 'tv')`,
    );
    await discovery.followSettings();
    expect(directory.all()).toMatchObject([{ id: 9999, ip: '192.0.2.7', name: 'tv', newQueries: 5 }]);
  });

  test('removes no client after a step of the clock', async () => {
    await saw('192.0.2.7');
    aheadMs = 365 * 24 * 60 * MINUTE_MS;
    nowMs += 2 * 60 * MINUTE_MS;
    await discovery.check();
    aheadMs = 0;
    expect((await rows()).map(({ ip }) => ip)).toEqual(['192.0.2.7']);
  });

  test('reads host names from changed lease files, and queries PTR records for addresses without a lease', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-leases-'));
    const file = join(folder, 'dnsmasq.leases');
    leasePaths = [join(folder, 'missing'), file];
    writeFileSync(file, `0 ${MAC} 192.0.2.7 phone *\n`);
    neighbours = [{ address: '2001:db8::7', mac: MAC }];
    await saw('192.0.2.7');
    await saw('2001:db8::7');
    await saw('192.0.2.8');
    expect([directory.nameAt('192.0.2.7'), directory.nameAt('2001:db8::7')]).toEqual(['phone', 'phone']);
    expect(wanted).toEqual(['192.0.2.8']);
    writeFileSync(file, `0 ${MAC} 192.0.2.7 telephone *\n`);
    utimesSync(file, 1, 1);
    nowMs += MINUTE_MS;
    await discovery.check();
    expect(directory.nameAt('2001:db8::7')).toBe('telephone');
    expect((await rows()).map(({ hostname }) => hostname)).toContain('telephone');
    rmSync(folder, { recursive: true });
  });
});

describe('HostNames', () => {
  test('queries names of private addresses at intervals, and reports the names it gets', async () => {
    const asked: string[] = [];
    const found: [string, string | null][] = [];
    const names = new HostNames({
      clock,
      ask: async (address) => {
        asked.push(address);
        if (address === '10.0.0.7') return ['Phone.Home.Arpa'];
        if (address === '10.0.0.8') return [];
        throw new Error('timeout');
      },
      found: (address, hostname) => void found.push([address, hostname]),
    });
    for (const address of ['10.0.0.7', '10.0.0.8', '10.0.0.9', '192.0.2.7', '10.0.0.7']) names.want(address);
    await new Promise(setImmediate);
    expect(asked).toEqual(['10.0.0.7', '10.0.0.8', '10.0.0.9']);
    expect(found).toEqual([
      ['10.0.0.7', 'phone.home.arpa'],
      ['10.0.0.8', null],
    ]);
    nowMs += 10 * MINUTE_MS;
    for (const address of ['10.0.0.7', '10.0.0.8', '10.0.0.9']) names.want(address);
    await new Promise(setImmediate);
    expect(asked.slice(3)).toEqual(['10.0.0.8', '10.0.0.9']);
    names.close();
    nowMs += 60 * MINUTE_MS;
    names.want('10.0.0.7');
    expect(asked).toHaveLength(5);
  });

  test('queries a device by mDNS if no other source knows its name', async () => {
    const address = '127.0.0.77';
    const device = createSocket('udp4');
    let name = 'phone.local';
    device.on('message', (query, { address: from, port }) => {
      const rdata = nameFromText(name)!;
      const record = [0xc0, 12, 0, 12, 0, 1, 0, 0, 0, 120, 0, rdata.length, ...rdata];
      let end = 12;
      while (query[end] !== 0) end += query[end]! + 1;
      const reply = Buffer.concat([query.subarray(0, end + 5), Uint8Array.from(record)]);
      reply.writeUInt16BE(0x8400, 2);
      reply.writeUInt16BE(1, 6);
      reply.writeUInt16BE(0, 10);
      device.send(reply, port, from);
    });
    device.bind(0, address);
    await once(device, 'listening');
    const ofDevice = askDevice(device.address().port);
    const nothing = askInTurn(async () => [], ofDevice);
    expect(await nothing(address)).toEqual(['phone.local']);
    expect(await askInTurn(async () => ['tv.home.arpa'], ofDevice)(address)).toEqual(['tv.home.arpa']);
    name = 'www.example.org';
    expect(await nothing(address)).toEqual([]);
    device.close();
    expect(await askInTurn(async () => [], askDevice(1))(address)).toEqual([]);
    const away = askInTurn(() => Promise.reject(new Error('timeout')), ofDevice);
    await expect(away(address)).rejects.toThrow('timeout');
  });

  test('keeps only a few PTR queries in flight', async () => {
    const waiting: (() => void)[] = [];
    const names = new HostNames({
      clock,
      ask: () => new Promise((resolve) => waiting.push(() => resolve([]))),
      found: () => undefined,
    });
    for (let i = 0; i < 100; i++) names.want(`10.0.1.${i}`);
    expect(waiting).toHaveLength(4);
    waiting.forEach((answer) => answer());
    await new Promise(setImmediate);
    expect(waiting).toHaveLength(8);
    names.close();
  });

  test.each([
    ['10.255.0.1', true],
    ['172.16.0.1', true],
    ['172.32.0.1', false],
    ['192.168.1.1', true],
    ['169.254.1.1', true],
    ['100.64.0.1', true],
    ['100.128.0.1', false],
    ['192.0.2.1', false],
    ['127.0.0.1', false],
    ['fd00::1', true],
    ['fe80::1', true],
    ['2001:db8::1', false],
    ['::1', false],
    ['x', false],
  ])('isPrivate(%s) is %s', (address, expected) => expect(isPrivate(address)).toBe(expected));
});
