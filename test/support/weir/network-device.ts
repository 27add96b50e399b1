/**
 * A device on a separate network with this machine: a network namespace and a virtual cable.
 *
 * @needs iproute2 root
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WAIT_MS } from '../parts/until.ts';

const run = promisify(execFile);
const ASK_UNTIL = join(import.meta.dirname, 'ask-until.ts');
/** Longer than any wait in a program, so that the program's own, more precise error is reported. */
const TIMEOUT_MS = WAIT_MS + 30_000;

/** The device: its namespace, its cable and its addresses. */
export class NetworkDevice implements Disposable {
  private readonly name: string;
  /** The local end of the cable. */
  private readonly here: string;
  private readonly there = 'eth0';

  private constructor(name: string) {
    this.name = name;
    this.here = name;
  }

  /** Creates a device; the local end of its cable has the given addresses. Removes everything if it fails. */
  static make(mac: string, ownAddresses: readonly string[]): NetworkDevice {
    removeLeftovers();
    // Names of interfaces have at most 15 characters.
    const device = new NetworkDevice(`weir${String(process.pid)}`);
    try {
      ip('netns', 'add', device.name);
      ip('link', 'add', device.here, 'type', 'veth', 'peer', 'name', device.there, 'netns', device.name);
      for (const address of ownAddresses) ip('address', 'add', address, 'dev', device.here, ...dad(address));
      ip('link', 'set', device.here, 'up');
      device.setMac(mac);
      device.ip('link', 'set', 'lo', 'up');
      return device;
    } catch (error) {
      device[Symbol.dispose]();
      throw error;
    }
  }

  /** Gives the device another MAC address, which removes its IP address. */
  setMac(mac: string): void {
    this.ip('link', 'set', this.there, 'down');
    this.ip('address', 'flush', 'dev', this.there);
    this.ip('link', 'set', this.there, 'address', mac);
    this.ip('link', 'set', this.there, 'up');
  }

  /** Gives the device an address such as `192.0.2.7/24`, and removes all other addresses of the same family. */
  setAddress(address: string): void {
    const family = address.includes(':') ? '-6' : '-4';
    this.ip(family, 'address', 'flush', 'dev', this.there, 'scope', 'global');
    this.ip('address', 'add', address, 'dev', this.there, ...dad(address));
  }

  /**
   * Gives the device an address that this machine reaches only by a route, as if the device were behind a router, and a
   * route to `network`, which is directly connected.
   */
  joinByRoute(address: string, network: string): void {
    this.setAddress(address);
    this.ip('route', 'add', network, 'dev', this.there);
    const [host = ''] = address.split('/');
    ip('route', 'add', host, 'dev', this.here);
  }

  /** Clears the neighbour table of the device. */
  clearNeighbours(): void {
    this.ip('neighbour', 'flush', 'dev', this.there);
  }

  /** Queries the A record of `name` from a server until the answer is `wanted`; resolves with the number of replies. */
  async askUntil(server: { address: string; port: number }, name: string, wanted: string): Promise<number> {
    return Number(await this.run(ASK_UNTIL, server.address, String(server.port), name, wanted));
  }

  /**
   * Gives the device an address in the network of the cable, from which the device sends. The device does not answer
   * ARP requests for the address, so to other machines the address seems unused.
   */
  addSilentAddress(address: string): void {
    // Puts the address on another interface, because the device answers ARP requests only for addresses of the
    // interface that receives them.
    this.ip('address', 'add', address, 'dev', 'lo');
    if (!address.includes(':')) this.inside('sh', '-c', 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore');
  }

  /** Runs a JavaScript program on the device; resolves with its output. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const [command, ...words] = this.command(program, ...args);
    try {
      return (await run(command!, words, { timeout: TIMEOUT_MS })).stdout;
    } catch (error) {
      if ((error as { killed?: boolean }).killed !== true) throw error;
      throw new Error(`${program} did not end in ${String(TIMEOUT_MS)} ms`, { cause: error });
    }
  }

  /** Command and arguments that run a JavaScript program on the device. */
  command(program: string, ...args: readonly string[]): string[] {
    const node = [process.execPath, '--disable-warning=ExperimentalWarning'];
    return ['ip', 'netns', 'exec', this.name, ...node, program, ...args];
  }

  /** Removes the device and its cable. */
  [Symbol.dispose](): void {
    spawnSync('ip', ['link', 'delete', this.here]);
    spawnSync('ip', ['netns', 'delete', this.name]);
  }

  private ip(...words: readonly string[]): void {
    ip('-netns', this.name, ...words);
  }

  private inside(...command: readonly string[]): void {
    ip('netns', 'exec', this.name, ...command);
  }
}

/**
 * Removes the devices of killed processes. Their cables have the addresses that the next device needs, and would
 * receive its replies.
 */
function removeLeftovers(): void {
  for (const [, name, pid] of ip('netns', 'list').matchAll(/^(weir(\d+))(?!\S)/gm)) {
    if (existsSync(`/proc/${pid!}`)) continue;
    spawnSync('ip', ['link', 'delete', name!]);
    spawnSync('ip', ['netns', 'delete', name!]);
  }
}

/** Option that disables duplicate address detection, which is unnecessary because the cable has no other machines. */
function dad(address: string): string[] {
  return address.includes(':') ? ['nodad'] : [];
}

function ip(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('ip', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${stderr}`);
  return stdout;
}
