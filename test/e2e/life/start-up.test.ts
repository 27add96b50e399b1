/** How Weir starts: without configuration, beside another server, with a deaf reader, told to stop meanwhile. */
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { chownSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serversOn } from '../../../control-plane/db/postgres/postgres-process.ts';
import { RRClass, Rcode } from '../../../shared/dns/iana.ts';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import type { Group } from '../../../shared/api/policy/groups-api.ts';
import { until } from '../../support/parts/until.ts';
import { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { ownEnvironment, OwnProcess, START_COMMAND, Weir } from '../../support/weir/weir-process.ts';
import type { User } from '../../support/weir/weir-process.ts';

/** An address of this machine that no other program listens on. */
const ADDRESS = `127.53.${String(1 + Math.floor(Math.random() * 250))}.${String(1 + Math.floor(Math.random() * 250))}`;
const FALLBACK_PORT = 5300;
const POOLS = '[{"name":"none","servers":["127.0.0.1:9"]}]';

const WITHOUT_KOFFI = new URL('../../support/weir/without-koffi.ts', import.meta.url);

/** An ordinary user that can run this checkout: ourselves, or `nobody` where the tests run as root. */
function ordinaryUser(): User | null {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid !== 0) return { uid, gid };
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (entry === null) return null;
  const user = { uid: Number(entry[1]), gid: Number(entry[2]) };
  const [node, args] = START_COMMAND;
  // A checkout below a home directory of root is out of reach for everybody else.
  return spawnSync(node, [...args.slice(0, -1), '--version'], { ...user, cwd: '/' }).status === 0
    ? user
    : null;
}

const firstFreePort = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
const user = ordinaryUser();
const mayBindPort53 = process.getuid?.() === 0 || firstFreePort <= 53;

/** Starts Weir in an empty folder without a configuration file. */
async function startBare(
  folder: string,
  dataDir: string,
  options: Partial<User> = {},
): Promise<{ weir: OwnProcess; webPort: number }> {
  const webPort = await freePort([ADDRESS]);
  const env = {
    ...ownEnvironment(),
    WEIR_SERVER_DATA_DIR: dataDir,
    WEIR_SERVER_BIND_ADDRESS: ADDRESS,
    WEIR_SERVER_WEB_PORT: String(webPort),
    WEIR_DNS_POOLS: POOLS,
  };
  const [node, args] = START_COMMAND;
  return { weir: new OwnProcess(node, args, { cwd: folder, env, ...options }), webPort };
}

const clusterOf = (room: TempDir): string => join(room.dataDir, 'postgres', 'cluster');

/** Processes of an embedded database that still work on the data directory. */
function databasesOn(room: TempDir): number[] {
  return existsSync(clusterOf(room)) ? serversOn(clusterOf(room)) : [];
}

/** Steps of a first start, in their order. */
const START_STEPS: readonly (readonly [string, (room: TempDir, weir: Weir) => boolean])[] = [
  ['a process that runs', (_room, weir) => weir.pid > 0],
  ['a data directory', (room) => existsSync(room.dataDir)],
  ['files of the database', (room) => existsSync(clusterOf(room))],
  ['a process of the database', (room) => databasesOn(room).length > 0],
  ['answers to DNS', (_room, weir) => weir.output.includes(' answers.')],
];

/** Waits until Weir answers on `port`, by a question that needs no upstream. */
async function expectAnswers(port: number): Promise<void> {
  using udp = await UdpClient.open(port, ADDRESS);
  expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
}

if (user !== null && firstFreePort > 53)
  describe('weir of an ordinary user, without any configuration', () => {
    test('weir creates all it needs, answers on port 5300, and says why not on 53 and what to do', async () => {
      const room = makeTempDir();
      chownSync(room.path, user.uid, user.gid);
      const { weir, webPort } = await startBare(room.path, room.dataDir, user);
      await using _ended = weir;
      await weir.untilOutput(/Next:[^]*Point your router/);
      expect(weir.output).toContain(`DNS        ${ADDRESS}:5300 (UDP and TCP)`);
      expect(weir.output).toContain('defaults (no configuration file was found)');
      expect(weir.output).toMatch(/Port 5300 instead of 53: .*not permitted.*CAP_NET_BIND_SERVICE/);
      await expectAnswers(FALLBACK_PORT);
      await weir.untilOutput(/database is up/);
      await weir.untilOutput(/Setup code [0-9a-z-]{19}/);
      const setupCode = join(room.dataDir, 'setup-code');
      expect(weir.output).toContain(readFileSync(setupCode, 'utf8').trim());
      const api = await ApiClient.signIn(webPort, ADDRESS);
      expect(existsSync(setupCode)).toBe(false);
      expect(await api.expect<Group[]>(200, 'GET', '/groups')).toMatchObject([
        { id: 1, name: 'Default', enabled: true },
      ]);
      const sources = await until(
        'the first list',
        () => api.expect<BlocklistSource[]>(200, 'GET', '/blocklist-sources'),
        ({ length }) => length > 0,
        { pauseMs: 50 },
      );
      expect(sources).toMatchObject([{ enabled: true, group_ids: [] }]);
      expect(await weir.end('SIGTERM')).toMatchObject({ code: 0 });
      room.remove();
    });
  });

if (mayBindPort53)
  describe('weir beside another DNS server', () => {
    let other: Socket;
    test('weir takes port 5300 where 53 is taken and was not asked for, and says why', async () => {
      other = createSocket('udp4').bind(53, ADDRESS);
      await once(other, 'listening');
      const room = makeTempDir();
      await prepareDataDir(room.dataDir);
      const { weir } = await startBare(room.path, room.dataDir);
      await using _ended = weir;
      await weir.untilOutput(/Next:/);
      expect(weir.output).toMatch(/Port 5300 instead of 53: .*UDP port 53: another program has it/);
      await expectAnswers(FALLBACK_PORT);
      expect(await weir.end('SIGTERM')).toMatchObject({ code: 0 });
      other.close();
      room.remove();
    });
  });

describe('weir while it starts and after', () => {
  test('weir goes on over node:dgram where koffi does not load, and says so once', async () => {
    await using weir = await Weir.start({
      env: { NODE_OPTIONS: `--import ${WITHOUT_KOFFI.href}`, WEIR_SERVER_WORKERS: '2' },
    });
    expect(weir.output.match(/answer over node:dgram/g)).toHaveLength(1);
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ status: 'ok' });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test('weir goes on answering when the reader of its log has gone away', async () => {
    await using weir = await Weir.start({ toml: '[logging]\nlevel = "debug"\n' });
    weir.deafen();
    // Signing in writes to the log.
    await weir.api();
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ status: 'ok' });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test('weir that is told to stop while it starts ends, and leaves no database behind', async () => {
    for (const [what, isReached] of START_STEPS) {
      const room = makeTempDir();
      await using weir = await Weir.launch({ room, database: 'later' });
      await until(what, () => isReached(room, weir), Boolean, { pauseMs: 1 });
      const { code, signal } = await weir.end('SIGTERM');
      // Before it listens to signals, one ends it as it ends any program.
      expect([0, 'SIGTERM']).toContain(code ?? signal);
      expect(databasesOn(room)).toEqual([]);
      room.remove();
    }
  });
});
