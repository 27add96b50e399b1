/**
 * A booted Debian in a folder: its systemd runs as on a real machine, on an isolated network. Needs root and Debian's
 * systemd-container.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { until, within } from '../support/parts/until.ts';
import { OwnProcess, ownEnvironment } from '../support/weir/weir-process.ts';
import { look, OWN_CGROUPS, run, prints } from './trial-parts.ts';

/** An environment without the variables of this process, such as the directory of the compile cache. */
const CLEAN = ['env', '--ignore-environment', 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'] as const;
const POLL_MS = 200;
/** Time limit of a boot and of a shutdown. */
const BOOT_MS = 300_000;

/** The booted machine. */
export class BootedRoot {
  private readonly container: ChildProcess;
  private readonly group: string;
  /** Process id on this machine of process 1 of the root. */
  private readonly init: string;

  private constructor(container: ChildProcess, group: string) {
    this.container = container;
    this.group = group;
    this.init = children(container.pid!)[0]!;
  }

  /** Boots the machine and waits until systemd has started its initial units. */
  static async boot(root: string): Promise<BootedRoot> {
    const group = `/sys/fs/cgroup/weir-trial-${String(process.pid)}`;
    const options = '--quiet --register=no --keep-unit --private-network --console=pipe --boot';
    const own = `${OWN_CGROUPS}; mkdir ${group}; echo $$ >${group}/cgroup.procs; exec systemd-nspawn ${options} --directory=${root}`;
    const env = { ...process.env, UNIFIED_CGROUP_HIERARCHY: '1' };
    const container = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', own], {
      env,
      stdio: 'ignore',
    });
    await until(
      'systemd of the machine to be running',
      () => {
        if (container.exitCode !== null)
          throw new Error(
            `systemd-nspawn (Debian: systemd-container) ended with ${String(container.exitCode)}`,
          );
        const [init] = children(container.pid!);
        if (init === undefined) return 'no process';
        return look('nsenter', '--target', init, '--all', 'systemctl', 'is-system-running');
      },
      (state) => state === 'running',
      { pauseMs: POLL_MS, withinMs: BOOT_MS },
    );
    return new BootedRoot(container, group);
  }

  /** Output of a command on the machine, as root. @throws with the complete output unless it succeeds */
  run(...command: readonly string[]): string {
    return run('nsenter', ...this.inside('--all'), ...CLEAN, ...command);
  }

  /** Output of a command on the machine, even if it fails. */
  look(...command: readonly string[]): string {
    return look('nsenter', ...this.inside('--all'), ...CLEAN, ...command);
  }

  /** Whether a command on the machine succeeds and prints this line. */
  prints(line: string, ...command: readonly string[]): boolean {
    return prints(line, 'nsenter', ...this.inside('--all'), ...CLEAN, ...command);
  }

  /** Starts a local program on the network of the machine, and keeps it running. */
  startClient(...command: readonly string[]): OwnProcess {
    return new OwnProcess('nsenter', [...this.inside('--net'), ...command], { env: ownEnvironment() });
  }

  /** Shuts the machine down as its power button does. */
  async halt(): Promise<void> {
    const ended = once(this.container, 'close');
    this.container.kill('SIGTERM');
    await within('the machine to shut down', ended, { withinMs: BOOT_MS });
    const remove = `${OWN_CGROUPS}; find ${this.group} -depth -type d -exec rmdir {} +`;
    run('unshare', '--mount', '--propagation', 'private', 'sh', '-c', remove);
  }

  private inside(namespaces: string): string[] {
    return ['--target', this.init, namespaces];
  }
}

function children(pid: number): string[] {
  const text = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
  return text.split(' ').filter((child) => child !== '');
}
