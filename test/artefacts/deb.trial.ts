/**
 * The Debian package in a fresh Debian: installed, started, upgraded below a running Weir, removed, purged. Needs root, mmdebstrap
 * and lintian. Of systemd there is a stand-in that notes what it is told.
 */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/parts/until.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { newest, run, says } from './room.ts';

const { file: deb, version } = newest(/^weir_(.+)_amd64\.deb$/);
const NEWER = `${version}.1`;
const SYSTEMCTL = `#!/bin/sh
echo "$*" >>/tmp/systemctl.log
case $* in
  *is-enabled*) echo enabled ;;
  *is-active*) test -e /tmp/active ;;
  *stop*) rm -f /tmp/active ;;
  *start*) touch /tmp/active ;;
esac
`;
/** Nothing of this process's environment, such as where it keeps compiled code. */
const CLEAN = ['env', '--ignore-environment', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] as const;

describe('weir.deb', () => {
  const room = mkdtempSync(join(tmpdir(), 'weir-deb-'));
  const root = join(room, 'root');
  const inside = (...args: readonly string[]): string => run('chroot', root, ...CLEAN, ...args);
  /** What systemd was told since the last look. */
  const told = (): string[] => {
    const log = join(root, 'tmp/systemctl.log');
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    rmSync(log, { force: true });
    return lines.filter((line) => /weir/.test(line));
  };
  /** Every file outside of what dpkg and apt keep for themselves. */
  const files = (): string[] =>
    inside('find', '/', '-xdev', '-not', '-path', '/proc*', '-not', '-path', '/tmp*')
      .split('\n')
      .filter(
        (path) => !/^\/run\/|^\/var\/(lib\/dpkg|log|cache)|^\/etc\/.*-$|^\/var\/lib\/systemd/.test(path),
      );
  const ready = (): boolean => says('ready', 'chroot', root, ...CLEAN, 'weir', 'ready');
  let before: string[];
  let weir: ReturnType<typeof spawn> | undefined;

  beforeAll(() => {
    run(
      'mmdebstrap',
      '--quiet',
      '--variant=apt',
      '--include=adduser,init-system-helpers,libatomic1,libstdc++6',
      'bookworm',
      root,
    );
    mkdirSync(join(root, 'run/systemd/system'), { recursive: true });
    writeFileSync(join(root, 'usr/local/bin/systemctl'), SYSTEMCTL, { mode: 0o755 });
    before = files();
    run('cp', deb, join(root, 'tmp/weir.deb'));
    // What an upgrade is: the same content, of a newer version.
    run('dpkg-deb', '--raw-extract', deb, join(room, 'newer'));
    run('sed', '-i', `s/^Version: .*/Version: ${NEWER}/`, join(room, 'newer/DEBIAN/control'));
    run(
      'dpkg-deb',
      '-Znone',
      '--root-owner-group',
      '--build',
      join(room, 'newer'),
      join(root, 'tmp/newer.deb'),
    );
  });

  afterAll(() => {
    weir?.kill('SIGKILL');
    rmSync(room, { recursive: true, force: true });
  });

  test('has nothing that lintian minds and the overrides do not explain', () => {
    expect(run('lintian', '--profile=debian', '--fail-on=error,warning', deb)).toBe('');
  });

  test('makes the user, folders of its own, and starts the service', () => {
    inside('dpkg', '--install', '/tmp/weir.deb');
    expect(inside('id', 'weir')).toMatch(/^uid=\d+\(weir\) gid=\d+\(weir\)/);
    const owned = ['/etc/weir', '/etc/weir/weir.toml', '/var/lib/weir'];
    expect(inside('stat', '--format=%U %a', ...owned)).toBe('weir 750\nweir 640\nweir 700\n');
    expect(told()).toContainEqual(expect.stringMatching(/start weir\.service$/));
    expect(inside('weir', '--version').trim()).toBe(version.replace(/\+.*/, ''));
  });

  test('answers DNS as the user weir', async () => {
    const [dns, web] = [await freePort(['127.0.0.1']), await freePort(['127.0.0.1'])];
    const file = join(root, 'etc/weir/weir.toml');
    const text = readFileSync(file, 'utf8');
    const ports = `dns_port = ${String(dns)}\nweb_port = ${String(web)}\nbind_address = ["127.0.0.1"]\n`;
    writeFileSync(file, `${text}${ports}`);
    const unit = readFileSync(join(root, 'usr/lib/systemd/system/weir.service'), 'utf8');
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [, environment = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    // The dynamic linker finds PostgreSQL's libraries by /proc.
    const asWeir = `setpriv --reuid=weir --regid=weir --clear-groups env ${environment} ${command}`;
    const own = `mount -t proc proc ${root}/proc; exec chroot ${root} ${asWeir}`;
    weir = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', own], { stdio: 'ignore' });
    await until(ready, 200);
  });

  test('is upgraded below a running Weir: its release stays whole, its configuration as it was edited', () => {
    const running = join(root, 'usr/lib/weir/releases', version);
    const files = (): string =>
      run('find', running, '-name', '.cache', '-prune', '-o', '-type', 'f', '-print');
    const whole = files();
    told();
    inside('dpkg', '--install', '/tmp/newer.deb');
    expect(readlinkSync(join(root, 'usr/lib/weir/current'))).toBe(`releases/${NEWER}`);
    expect(files()).toBe(whole);
    expect(readFileSync(join(root, 'etc/weir/weir.toml'), 'utf8')).toMatch(/^dns_port = /m);
    expect(told()).toContainEqual(expect.stringMatching(/reload weir\.service$/));
    expect(ready()).toBe(true);
  });

  test('leaves configuration and data when it is removed, and nothing when it is purged', async () => {
    weir!.kill('SIGTERM');
    await once(weir!, 'close');
    inside('dpkg', '--remove', 'weir');
    expect(told()).toContainEqual(expect.stringMatching(/stop weir\.service$/));
    expect(existsSync(join(root, 'usr/lib/weir'))).toBe(false);
    expect(statSync(join(root, 'etc/weir/weir.toml')).isFile()).toBe(true);
    expect(existsSync(join(root, 'var/lib/weir/postgres'))).toBe(true);
    inside('dpkg', '--purge', 'weir');
    expect(files()).toEqual(before);
  });
});
