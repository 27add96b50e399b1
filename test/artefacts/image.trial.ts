/**
 * The OCI image as a container runtime runs it: unpacked by umoci, which verifies every digest, and started by crun
 * without root, without capabilities and on a read-only file system. The arm64 image answers on an emulated processor.
 * Needs root, umoci, crun, dig and qemu-user-static.
 */
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until, within } from '../support/parts/until.ts';
import { answersEmulated } from './emulated.ts';
import { look, newest, OWN_CGROUPS, run } from './trial-parts.ts';

interface Mount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** Fields of a bundle's config.json that the trial changes. */
interface Bundle {
  process: { user: { uid: number }; terminal: boolean; noNewPrivileges: boolean; capabilities: object };
  root: { readonly: boolean };
  mounts: Mount[];
  linux: { sysctl?: object; resources?: object };
}

const { file: image, version: tag } = newest(/^weir-(.+)\.oci\.tar$/);
const workDir = mkdtempSync(join(tmpdir(), 'weir-image-'));
const UID = 65053;
const NO_CAPABILITIES = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };

beforeAll(() => {
  mkdirSync(join(workDir, 'layout'));
  run('tar', '-xf', image, '-C', join(workDir, 'layout'));
  for (const arch of ['amd64', 'arm64'])
    run('umoci', 'unpack', '--image', `${join(workDir, 'layout')}:${tag}-${arch}`, join(workDir, arch));
});
afterAll(() => rmSync(workDir, { recursive: true, force: true }));

describe('the container image for amd64', () => {
  const state = join(workDir, 'crun');
  const data = join(workDir, 'data');
  const crun = (...args: readonly string[]): string[] => ['--root', state, ...args];
  const exec = (...args: readonly string[]): string[] => crun('exec', 'weir', ...args);

  beforeAll(() => {
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, UID, UID);
    const file = join(workDir, 'amd64', 'config.json');
    const bundle = JSON.parse(readFileSync(file, 'utf8')) as Bundle;
    const { process: started, root, linux } = bundle;
    Object.assign(started, { terminal: false, noNewPrivileges: true, capabilities: NO_CAPABILITIES });
    root.readonly = true;
    linux.sysctl = { 'net.ipv4.ip_unprivileged_port_start': '53' };
    delete linux.resources;
    const scratch = { type: 'tmpfs', source: 'tmpfs', options: ['mode=1777'] };
    bundle.mounts = [
      ...bundle.mounts.filter(({ destination }) => !/^\/(sys\/fs\/cgroup|var\/lib\/weir)$/.test(destination)),
      { destination: '/var/lib/weir', type: 'bind', source: data, options: ['rbind', 'rw'] },
      { destination: '/tmp', ...scratch },
    ];
    writeFileSync(file, JSON.stringify(bundle));
  });

  /** Starts the container and waits until it is ready; returns a function that stops it as `docker stop` does. */
  async function start(): Promise<() => Promise<number | null>> {
    const own = `${OWN_CGROUPS}; exec crun --cgroup-manager=disabled --root ${state} run --bundle ${join(workDir, 'amd64')} weir`;
    const child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', own], {
      stdio: 'ignore',
    });
    const ended = once(child, 'exit') as Promise<[number | null]>;
    await until(
      'the Weir of the container to be ready',
      () => {
        if (child.exitCode !== null) throw new Error(`the container ended with ${String(child.exitCode)}`);
        return look('crun', ...exec('weir', 'ready'));
      },
      (state) => state === 'ready',
      { pauseMs: 200 },
    );
    return async () => {
      run('crun', ...crun('kill', 'weir', 'TERM'));
      return (await within('the container to end after TERM', ended))[0];
    };
  }

  test('answers on port 53 without root and capabilities, and passes its own health check', async () => {
    const stop = await start();
    const { pid } = JSON.parse(run('crun', ...crun('state', 'weir'))) as { readonly pid: number };
    const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\s+${String(UID)}\\s`, 'm'));
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    const dig = ['nsenter', `--net=/proc/${String(pid)}/ns/net`, 'dig', '+short', '@127.0.0.1'] as const;
    expect(run(...dig, 'CH', 'TXT', 'status.weir')).toBe('"ready"\n');
    expect(run(...dig, 'A', 'localhost')).toBe('127.0.0.1\n');
    expect(await stop()).toBe(0);
  });

  test('keeps its volume across a restart, with the same database', async () => {
    const identity = (): string =>
      run('od', '-A', 'n', '-t', 'x8', '-N', '8', join(data, 'postgres/cluster/global/pg_control'));
    const before = identity();
    const stop = await start();
    expect(await stop()).toBe(0);
    expect(identity()).toBe(before);
  });

  test('contains lists of its npm and Debian packages', () => {
    const root = join(workDir, 'amd64', 'rootfs');
    expect(existsSync(join(root, 'opt/weir/sbom/weir.cdx.json'))).toBe(true);
    expect(readFileSync(join(root, 'var/lib/dpkg/status.d/libc6'), 'utf8')).toMatch(/^Version: 2\./m);
    for (const ofTheBuilder of ['etc/hostname', 'etc/resolv.conf', 'var/lib/apt'])
      expect(existsSync(join(root, ofTheBuilder))).toBe(false);
  });
});

describe('the container image for arm64', () => {
  test('answers on an emulated processor', () =>
    answersEmulated(join(workDir, 'arm64', 'rootfs'), '/opt/weir'));
});
