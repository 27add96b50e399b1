/**
 * Tests a complete Weir server that root starts in a separate mount namespace, whose users include `weir`; the users of
 * the machine are unchanged.
 *
 * @needs root
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { makeTempDir } from '../../../test/support/weir/data-dir.ts';
import type { TempDir } from '../../../test/support/weir/data-dir.ts';
import { OwnProcess, START_COMMAND, ownEnvironment } from '../../../test/support/weir/weir-process.ts';

const WEIR = 64_996;
const OTHER = 64_995;
/** Set of capabilities with only CAP_NET_BIND_SERVICE, as in /proc/self/status. */
const ONLY_LOW_PORTS = '0000000000000400';
const WITHOUT_KOFFI = new URL('../../../test/support/weir/without-koffi.ts', import.meta.url).href;

/**
 * Script that gives a namespace its own users and network, so that ports below 1024 are free, and then runs the
 * command.
 */
const MACHINE = `mount --bind passwd /etc/passwd && mount --bind group /etc/group && ip link set lo up && exec "$@"`;

let tempDir: TempDir;
let dataDir: string;
beforeEach(() => {
  tempDir = makeTempDir();
  dataDir = tempDir.dataDir;
  const { passwd, group } = { passwd: '/etc/passwd', group: '/etc/group' };
  write(
    'passwd',
    `${readFileSync(passwd, 'utf8')}weir:x:${WEIR}:${WEIR}::${tempDir.path}:/usr/sbin/nologin\n`,
  );
  write('group', `${readFileSync(group, 'utf8')}weir:x:${WEIR}:\nleases:x:64994:weir\n`);
  configure('');
});
afterEach(() => tempDir.remove());

function write(name: string, text: string, mode = 0o644): string {
  const path = join(tempDir.path, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function configure(toml: string, mode = 0o644): void {
  const server = `dns_port = 53\nweb_port = 80\nbind_address = ["127.0.0.1"]\ndata_dir = ${JSON.stringify(dataDir)}`;
  write(
    'weir.toml',
    `[server]\n${server}\n[blocking]\ncatalog_url = ""\n[[dns.pools]]\nname = "upstreams"\nservers = ["127.0.0.1:9"]\n${toml}`,
    mode,
  );
}

interface StartOptions {
  readonly wrapper?: readonly string[];
  readonly flags?: readonly string[];
  readonly words?: readonly string[];
  readonly database?: string;
  /** Process whose namespaces are used instead of new ones. */
  readonly beside?: OwnProcess;
}

/** Starts a Weir server as root. */
function start(options: StartOptions = {}): OwnProcess {
  const {
    wrapper = [],
    flags = [],
    words = [],
    beside,
    database = 'postgres://weir@127.0.0.1:9/weir',
  } = options;
  const [node, args] = START_COMMAND;
  const weir = [...wrapper, node, ...flags, ...args, ...words, '--config', join(tempDir.path, 'weir.toml')];
  const env = { ...ownEnvironment(), WEIR_DATABASE_URL: database };
  const spaces = { cwd: tempDir.path, env };
  return beside === undefined
    ? new OwnProcess(
        'unshare',
        [...'--mount --net --propagation private sh -c'.split(' '), MACHINE, 'sh', ...weir],
        spaces,
      )
    : new OwnProcess('nsenter', [...`--target ${beside.pid} --mount --net`.split(' '), ...weir], spaces);
}

const answers = (weir: OwnProcess): Promise<void> => weir.untilOutput(/Weir \S+ is running\./);

/** Fields of /proc/PID/status. They must be the same for all threads. */
function rights({ pid }: OwnProcess): Record<string, string> {
  const fields = ['Uid', 'Gid', 'Groups', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs'];
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const valueOf = (name: string): string =>
    new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(status)?.[1] ?? '';
  return Object.fromEntries(fields.map((name) => [name, valueOf(name)]));
}

const four = (id: number): string => Array.from({ length: 4 }, () => id).join('\t');
const asWeir = {
  ...{ Uid: four(WEIR), Gid: four(WEIR), Groups: `64994 ${WEIR}`, NoNewPrivs: '1' },
  ...{ CapInh: ONLY_LOW_PORTS, CapPrm: ONLY_LOW_PORTS, CapEff: ONLY_LOW_PORTS },
  ...{ CapBnd: ONLY_LOW_PORTS, CapAmb: ONLY_LOW_PORTS },
};
const asRoot = { Uid: four(0), Gid: four(0), NoNewPrivs: '0' };

test('Weir started by root switches to the user weir, can still bind low ports, and creates its data directory', async () => {
  await using weir = start();
  await answers(weir);
  expect(rights(weir)).toEqual(asWeir);
  expect(readFileSync(`/proc/${weir.pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m);
  expect(readFileSync(`/proc/${weir.pid}/net/udp`, 'utf8')).toContain('0100007F:0035');
  expect(readFileSync(`/proc/${weir.pid}/net/tcp`, 'utf8')).toContain('0100007F:0050');
  const { uid, mode } = lstatSync(dataDir);
  expect([uid, mode & 0o777, lstatSync(join(dataDir, 'lock')).uid]).toEqual([WEIR, 0o700, WEIR]);
  expect(weir.output).not.toContain('running as root');
  // With its remaining rights, the server can reload its file and be replaced.
  weir.child.kill('SIGHUP');
  await using next = start({ beside: weir, words: ['--take-over'] });
  await answers(next);
  expect(rights(next)).toEqual(asWeir);
  expect((await weir.end()).code).toBe(0);
});

test('the embedded PostgreSQL of a server that was started by root runs as weir', async () => {
  await using weir = start({ database: '' });
  await answers(weir);
  await weir.untilOutput(/created embedded database/);
  expect(lstatSync(join(dataDir, 'postgres', 'cluster')).uid).toBe(WEIR);
});

test('Weir started by root stays root if root owns the data, and runs as weir after the logged command was run', async () => {
  mkdirSync(join(dataDir, 'lists'), { recursive: true });
  write('data/weir.uuid', 'x');
  const victim = write('victim', 'of root', 0o600);
  symlinkSync(victim, join(dataDir, 'link'));
  await using weir = start();
  await answers(weir);
  expect(rights(weir)).toMatchObject(asRoot);
  const [, command = ''] = /stop Weir, run: (find .* \+); then start it/.exec(weir.output) ?? [];
  await weir.end('SIGTERM');
  const done = spawnSync(
    'unshare',
    [
      ...'--mount --propagation private sh -c'.split(' '),
      MACHINE.replace(/ip .*&& /, ''),
      'sh',
      'sh',
      '-c',
      command,
    ],
    { cwd: tempDir.path, encoding: 'utf8' },
  );
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(lstatSync(victim).uid).toBe(0);
  await using next = start();
  await answers(next);
  expect(rights(next)).toEqual(asWeir);
});

test.each([
  [
    'the data directory is another user’s',
    (): void => {
      mkdirSync(dataDir);
      chownSync(dataDir, OTHER, OTHER);
    },
    /data does not belong to user weir/,
  ],
  [
    'one file in it is root’s',
    (): void => {
      mkdirSync(dataDir);
      chownSync(dataDir, WEIR, WEIR);
      write('data/node-uuid', '', 0o600);
    },
    /data\/node-uuid does not belong to user weir/,
  ],
  [
    'the user weir cannot read the configuration file',
    (): void => configure('', 0o600),
    /no access to \S*weir\.toml/,
  ],
  [
    'the user weir cannot read a file that the configuration names',
    (): void => configure(`[dns]\ndhcp_leases = [${JSON.stringify(write('leases', '', 0o600))}]`),
    /no access to \S*leases/,
  ],
  [
    'the user weir cannot enter a parent folder of the data directory',
    (): void => {
      mkdirSync(join(tempDir.path, 'closed'), { mode: 0o700 });
      dataDir = join(tempDir.path, 'closed', 'data');
      configure('');
    },
    /could not create \S*data for user weir/,
  ],
  [
    'the user weir does not exist',
    (): void => void write('passwd', readFileSync('/etc/passwd', 'utf8')),
    /user weir does not exist.*useradd/,
  ],
])('Weir started by root stays root, and logs the reason, if %s', async (_what, arrange, warning) => {
  arrange();
  await using weir = start();
  await answers(weir);
  expect(rights(weir)).toMatchObject(asRoot);
  expect(weir.output).toMatch(/Weir keeps running as root/);
  expect(weir.output).toMatch(warning);
});

test.each([
  [
    'it has no capabilities, as in a container',
    { wrapper: ['setpriv', '--bounding-set=-setuid,-setgid'] },
    /root lacks CAP_SETGID, CAP_SETUID/,
  ],
  [
    'koffi does not load',
    { flags: ['--import', WITHOUT_KOFFI] },
    /calls for switching users are missing.*setpriv --reuid=weir/,
  ],
])('Weir started by root stays root, and logs how to change that, if %s', async (_what, options, warning) => {
  await using weir = start(options);
  await answers(weir);
  expect(rights(weir)).toMatchObject(asRoot);
  expect(weir.output).toMatch(warning);
});

test.each([
  ['a read-only data directory', (): void => chmodSync(dataDir, 0o500), /permission denied/],
  [
    'another location of the database',
    (): void => {
      write('data/postgres.location', '/etc\n');
      chownSync(join(dataDir, 'postgres.location'), WEIR, WEIR);
    },
    undefined,
  ],
  [
    'a configured file that only root can read',
    (): void => {
      const local = write('data/weir.local.toml', '[dns]\ndhcp_leases = ["/etc/shadow"]\n', 0o600);
      chownSync(local, WEIR, WEIR);
    },
    undefined,
  ],
])(
  'Weir started by root runs as the user weir although that user tries to prevent it: %s',
  async (_what, arrange, failure) => {
    mkdirSync(dataDir);
    chownSync(dataDir, WEIR, WEIR);
    arrange();
    await using weir = start();
    if (failure === undefined) {
      await answers(weir);
      expect(rights(weir)).toEqual(asWeir);
    } else {
      await weir.untilOutput(failure);
      expect((await weir.end()).code).toBe(1);
    }
    expect(weir.output).not.toContain('running as root');
  },
);

test('Weir that takes over from a process of root stays root, even if weir already owns the data', async () => {
  mkdirSync(dataDir);
  await using weir = start();
  await answers(weir);
  spawnSync('chown', ['--recursive', `${WEIR}:${WEIR}`, dataDir]);
  await using next = start({ beside: weir, words: ['--take-over'] });
  await answers(next);
  expect(rights(next)).toMatchObject(asRoot);
  expect(next.output).toMatch(/the running process of Weir runs as root.*stop it and start it again/);
  expect((await weir.end()).code).toBe(0);
});
