/**
 * A network of machines that are network namespaces on one switch. All interfaces are created inside the namespaces, so
 * the interfaces of this machine do not change.
 *
 * @needs iproute2 root
 */
import { spawnSync } from 'node:child_process';
import { WAIT_MS } from '../parts/until.ts';
import { OwnProcess, ownEnvironment } from './weir-process.ts';

/** The network. */
export class SmallNetwork implements Disposable {
  private readonly prefix = `weir${String(process.pid)}-`;
  private readonly machines: string[] = [];

  /** An empty network. Removes everything if it fails. */
  constructor() {
    using stack = new DisposableStack();
    stack.use(this);
    this.make('switch');
    this.run('switch', 'ip', 'link', 'add', 'bridge', 'type', 'bridge');
    this.run('switch', 'ip', 'link', 'set', 'bridge', 'up');
    stack.move();
  }

  /** Adds a machine whose `eth0` has this address. */
  add(machine: string, address: string): void {
    this.make(machine);
    const peer = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', this.prefix + machine];
    this.run('switch', 'ip', 'link', 'add', 'name', machine, ...peer);
    this.run('switch', 'ip', 'link', 'set', 'dev', machine, 'master', 'bridge', 'up');
    this.run(machine, 'ip', 'address', 'add', address, 'dev', 'eth0');
    this.run(machine, 'ip', 'link', 'set', 'eth0', 'up');
  }

  /** Output of a command on a machine. @throws with the output if it fails */
  run(machine: string, ...command: readonly string[]): string {
    const { status, stdout, stderr, error } = this.spawn(machine, command);
    if (status !== 0) throw new Error(`${machine}: ${command.join(' ')}: ${error?.message ?? stderr}`);
    return stdout;
  }

  /** Output of a command on a machine, even if the command fails, as it may while other programs start and stop. */
  look(machine: string, ...command: readonly string[]): string {
    return this.spawn(machine, command).stdout.trim();
  }

  /** Starts a program that keeps running on a machine. */
  start(machine: string, command: readonly string[], env: Readonly<Record<string, string>> = {}): OwnProcess {
    const args = ['netns', 'exec', this.prefix + machine, ...command];
    return new OwnProcess('ip', args, { env: { ...ownEnvironment(), ...env } });
  }

  /** Removes the machines; programs on them must have ended. */
  [Symbol.dispose](): void {
    for (const machine of this.machines.splice(0))
      spawnSync('ip', ['netns', 'delete', this.prefix + machine]);
  }

  private make(machine: string): void {
    const { status, stderr } = spawnSync('ip', ['netns', 'add', this.prefix + machine], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`create a machine of a network: ${stderr}`);
    this.machines.push(machine);
    this.run(machine, 'ip', 'link', 'set', 'lo', 'up');
  }

  private spawn(machine: string, command: readonly string[]) {
    const args = ['netns', 'exec', this.prefix + machine, ...command];
    return spawnSync('ip', args, { encoding: 'utf8', timeout: WAIT_MS });
  }
}
