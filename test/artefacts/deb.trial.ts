/**
 * The Debian package on a fresh Debian with a running systemd: installed, reloaded, upgraded to another version and
 * downgraded under load, killed, removed, purged. Needs root, dnsperf, lintian, mmdebstrap and systemd-container.
 */
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/parts/until.ts';
import { BootedRoot } from './booted-root.ts';
import { newest, run } from './trial-parts.ts';

const { file: deb, version } = newest(/^weir_(.+)_amd64\.deb$/);
const NEWER = '998.0.0';
/** Two releases that exit at their start. */
const BROKEN = ['999.0.0', '999.1.0'] as const;
const RELEASES = '/usr/lib/weir/releases';
const CONFIG = '/etc/weir/weir.toml';
const APT = ['apt-get', '--quiet', '--quiet', '--yes', '--allow-downgrades'] as const;
const POLL_MS = 100;

describe('weir.deb', () => {
  const workDir = mkdtempSync(join(tmpdir(), 'weir-deb-'));
  const root = join(workDir, 'root');
  const questions = join(workDir, 'questions');
  const content = join(workDir, 'content');
  let machine: BootedRoot;
  /** All files outside the directories that dpkg, apt and systemd keep for themselves. */
  const files = (): string[] =>
    machine
      .run('find', '/', '-xdev', '-not', '-path', '/root/*')
      .split('\n')
      .filter((path) => !/^\/var\/(lib\/(apt|dpkg)|log|cache)|^\/etc\/.*-$|^\/var\/lib\/systemd/.test(path));
  const ofService = (property: string): string =>
    machine.run('systemctl', 'show', '--value', '--property', property, 'weir').trim();
  const readiness = (): string => machine.look('weir', 'ready');
  const untilReady = (): Promise<string> =>
    until('the service to be ready', readiness, (state) => state === 'ready', { pauseMs: POLL_MS });
  /** The release whose Node the service runs. */
  const running = (): string => machine.run('readlink', `/proc/${ofService('MainPID')}/exe`).split('/')[5]!;
  /** Names of the UDP sockets on port 53 in the kernel. */
  const socketsOf53 = (): string[] =>
    machine
      .run('cat', '/proc/net/udp', '/proc/net/udp6')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .flatMap(([, address, , , , , , , , inode]) => (address?.endsWith(':0035') ? [inode!] : []))
      .sort();
  const install = (own: string): string => machine.run(...APT, 'install', `/root/weir_${own}.deb`);
  let before: string[];

  /** Sends Weir 500 queries per second while `happens` runs. @returns lost queries and response codes */
  async function asked(happens: () => void): Promise<{ lost: string; codes: string }> {
    const load = machine.startClient(
      'dnsperf',
      '-d',
      questions,
      '-Q',
      '500',
      '-c',
      '4',
      '-t',
      '20',
      '-S',
      '1',
    );
    await load.untilOutput(/ \d+\.\d+\n/);
    happens();
    await load.end('SIGINT', 60_000);
    const [, lost = load.output] = /Queries lost: +(\S+)/.exec(load.output) ?? [];
    const [, codes = load.output] = /Response codes: +(.*)/.exec(load.output) ?? [];
    return { lost, codes: codes.replaceAll(/ \d+ /g, ' ') };
  }

  /** Packs the content as another version. */
  function packAs(own: string): void {
    run('sed', '-i', `s/^Version: .*/Version: ${own}/`, join(content, 'DEBIAN/control'));
    const ofRelease = join(content, 'usr/lib/weir/release/package.json');
    run('sed', '-i', `s/"version": "[^"]*"/"version": "${own}"/`, ofRelease);
    run('dpkg-deb', '-Znone', '--root-owner-group', '--build', content, join(root, `root/weir_${own}.deb`));
  }

  beforeAll(async () => {
    writeFileSync(questions, 'localhost A\nlocalhost AAAA\n');
    const packages = 'adduser,init-system-helpers,libatomic1,libstdc++6,procps,systemd-sysv';
    run('mmdebstrap', '--quiet', '--variant=apt', `--include=${packages}`, 'bookworm', root);
    machine = await BootedRoot.boot(root);
    before = files();
    run('cp', deb, join(root, `root/weir_${version}.deb`));
    run('dpkg-deb', '--raw-extract', deb, content);
    appendFileSync(join(content, 'usr/share/weir/first-config.toml'), '# of the newer version\n');
    packAs(NEWER);
    writeFileSync(join(content, 'usr/lib/weir/release/dist/main.js'), 'process.exit(1);\n');
    for (const broken of BROKEN) packAs(broken);
  });

  afterAll(async () => {
    await machine.halt();
    rmSync(workDir, { recursive: true, force: true });
  });

  test('has no lintian finding without an override', () => {
    expect(run('lintian', '--profile=debian', '--fail-on=error,warning', deb)).toBe('');
  });

  test('creates its user and folders, and the service answers on port 53', async () => {
    install(version);
    expect(machine.run('id', 'weir')).toMatch(/^uid=\d+\(weir\) gid=\d+\(weir\)/);
    const owned = ['/etc/weir', CONFIG, '/var/lib/weir'];
    expect(machine.run('stat', '--format=%U %a', ...owned)).toBe('root 750\nroot 640\nweir 700\n');
    expect(machine.prints('enabled', 'systemctl', 'is-enabled', 'weir')).toBe(true);
    await untilReady();
    expect(machine.run('weir', '--version').trim()).toBe(version.replace(/\+.*/, ''));
    expect(running()).toBe(version);
    expect(await asked(() => undefined)).toEqual({ lost: '0', codes: 'NOERROR (100.00%)' });
  });

  test('runs Weir as the user weir, with only the capability for low ports', () => {
    const status = machine.run('cat', `/proc/${ofService('MainPID')}/status`);
    const uid = machine.run('id', '--user', 'weir').trim();
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t`, 'm'));
    expect(status).toMatch(/^CapEff:\t0{13}400$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  });

  test('replaces the process of the service at a reload without losing a query', async () => {
    const process = ofService('MainPID');
    expect(await asked(() => machine.run('systemctl', 'reload', 'weir'))).toMatchObject({ lost: '0' });
    expect(ofService('MainPID')).not.toBe(process);
    expect([ofService('NRestarts'), ofService('ActiveState')]).toEqual(['0', 'active']);
    expect(Number(ofService('NFileDescriptorStore'))).toBeGreaterThan(0);
  });

  test('cleanly stops the process that a reload started, and its database', async () => {
    machine.run('systemctl', 'stop', 'weir');
    expect([ofService('Result'), ofService('ExecMainStatus')]).toEqual(['success', '0']);
    machine.run('systemctl', 'start', 'weir');
    await untilReady();
  });

  test('stops cleanly even just after its start, and leaves no process', async () => {
    machine.run('systemctl', 'stop', 'weir');
    machine.run('systemctl', 'start', '--no-block', 'weir');
    const hasProcess = (pid: string): boolean => pid !== '0';
    await until('the service to have a process', () => ofService('MainPID'), hasProcess, {
      pauseMs: POLL_MS,
    });
    machine.run('systemctl', 'stop', 'weir');
    expect([ofService('Result'), ofService('ActiveState')]).toEqual(['success', 'inactive']);
    expect(machine.run('ps', '--no-headers', '-e', '-o', 'user')).not.toMatch(/^weir$/m);
    machine.run('systemctl', 'start', 'weir');
    await untilReady();
  });

  test('is restarted on the same sockets if it is killed, even after an earlier restart by systemd', async () => {
    const sockets = socketsOf53();
    expect(sockets.length).toBeGreaterThan(0);
    for (const restarts of ['1', '2']) {
      const process = ofService('MainPID');
      machine.run('systemctl', 'kill', '--kill-who=main', '--signal=KILL', 'weir');
      await until(
        `the service to be ready after ${restarts} restarts`,
        () => [ofService('NRestarts'), readiness()],
        ([count, state]) => count === restarts && state === 'ready',
        { pauseMs: POLL_MS },
      );
      expect(ofService('MainPID')).not.toBe(process);
      expect(socketsOf53()).toEqual(sockets);
      machine.run('systemctl', 'reload', 'weir');
    }
  });

  test('is upgraded under load without losing a query or the edited configuration', async () => {
    const file = join(root, CONFIG);
    writeFileSync(file, `${readFileSync(file, 'utf8')}# edited\n`);
    const ofRelease = join(root, RELEASES, version);
    const whole = run('find', ofRelease, '-type', 'f');
    expect(await asked(() => install(NEWER))).toMatchObject({ lost: '0' });
    expect(running()).toBe(NEWER);
    expect(readlinkSync(join(root, 'usr/lib/weir/current'))).toBe(`releases/${NEWER}`);
    expect(run('find', ofRelease, '-type', 'f')).toBe(whole);
    expect(readFileSync(file, 'utf8')).toMatch(/^# edited$/m);
    expect(ofService('NRestarts')).toBe('2');
    await untilReady();
  });

  test('is downgraded under load without losing a query or the edited configuration', async () => {
    expect(await asked(() => install(version))).toMatchObject({ lost: '0' });
    expect(running()).toBe(version);
    await untilReady();
    expect(machine.run('weir', '--version').trim()).toBe(version.replace(/\+.*/, ''));
  });

  test('keeps answering with the running release if newer releases do not start', async () => {
    const process = ofService('MainPID');
    for (const broken of BROKEN)
      expect(await asked(() => expect(install(broken)).toMatch(/Setting up/))).toMatchObject({ lost: '0' });
    expect([ofService('MainPID'), running()]).toEqual([process, version]);
    expect(existsSync(join(root, RELEASES, version, 'package.json'))).toBe(true);
    install(version);
    expect([running(), ofService('NRestarts')]).toEqual([version, '2']);
  });

  test('keeps configuration and data when it is removed, and deletes both when it is purged', () => {
    machine.run(...APT, 'remove', 'weir');
    expect(machine.run('ps', '--no-headers', '-e', '-o', 'user')).not.toMatch(/^weir$/m);
    expect(existsSync(join(root, 'usr/lib/weir'))).toBe(false);
    expect(statSync(join(root, CONFIG)).isFile()).toBe(true);
    expect(existsSync(join(root, 'var/lib/weir/postgres'))).toBe(true);
    machine.run(...APT, 'purge', 'weir');
    expect(files()).toEqual(before);
    expect(() => machine.run('id', 'weir')).toThrow('no such user');
  });
});
