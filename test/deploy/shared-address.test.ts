/**
 * deploy/addresses with its programs on a small network: addresses that two Weir servers share with keepalived, and an
 * address that both announce to a router with bird and ExaBGP. The addresses follow the server that is ready.
 *
 * @needs keepalived bird2 exabgp bind9-dnsutils
 */
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../support/weir/data-dir.ts';
import type { TempDir } from '../support/weir/data-dir.ts';
import { SmallNetwork } from '../support/weir/small-network.ts';
import type { OwnProcess } from '../support/weir/weir-process.ts';
import { START_COMMAND } from '../support/weir/weir-process.ts';

type Node = 'a' | 'b';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy', 'addresses');
const ADDRESSES = { a: '192.0.2.1', b: '192.0.2.2', client: '192.0.2.9' } as const;
const FIRST = '192.0.2.53';
const SECOND = '192.0.2.54';
const ANYCAST = '198.51.100.53';
/** Address for ExaBGP, separate because its machine also runs bird. */
const BY_EXABGP = '198.51.100.54';
const SPEAKERS = { a: '192.0.2.11', b: '192.0.2.12' } as const;
const DIG = ['dig', '+short', '+tries=1', '+time=1'] as const;
/** Polling interval. */
const POLL_MS = 100;

describe('service addresses that move between two Weir servers', () => {
  // keepalived does not run scripts that users other than root could replace, such as scripts in /tmp, and runs scripts
  // as an unprivileged user.
  const stack = new AsyncDisposableStack();
  const workDir = mkdtempSync('/run/weir-addresses-');
  stack.defer(() => rmSync(workDir, { recursive: true }));
  chmodSync(workDir, 0o755);
  const network = stack.use(new SmallNetwork());
  const tempDirs: TempDir[] = [];
  const weirs: Partial<Record<Node, OwnProcess>> = {};

  /** A file of deploy/addresses with some words replaced, as an operator does. */
  function edited(file: string, name: string, words: Readonly<Record<string, string>>): string {
    let text = readFileSync(join(DEPLOY, file), 'utf8');
    for (const [from, to] of Object.entries(words)) {
      expect(text).toContain(from);
      text = text.replaceAll(from, to);
    }
    const path = join(workDir, name);
    writeFileSync(path, text);
    return path;
  }

  function started(process: OwnProcess): OwnProcess {
    stack.defer(async () => {
      await process.end('SIGTERM');
    });
    return process;
  }

  function startWeir(node: Node): void {
    const { path, dataDir } = tempDirs[node === 'a' ? 0 : 1]!;
    const file = join(path, 'weir.toml');
    writeFileSync(
      file,
      `[server]\nnode_name = "${node}"\ndata_dir = "${dataDir}"\nworkers = 1\ndns_port = 53\n` +
        `[server.web_tls]\ntls_cert_path = "web-cert.pem"\ntls_key_path = "web-key.pem"\n` +
        `[dns]\nchaos_clients = ["127.0.0.0/8", "192.0.2.0/24"]\n[blocking]\ncatalog_url = ""\n`,
    );
    const [program, args] = START_COMMAND;
    weirs[node] = started(network.start(node, [program, ...args, '--config', file]));
  }

  const untilReady = (...nodes: readonly Node[]): Promise<unknown> =>
    until(
      `Weir ${nodes.join(' and ')} to be ready`,
      () => nodes.map((node) => network.look(node, ...DIG, '@127.0.0.1', 'CH', 'TXT', 'status.weir')),
      (states) => states.every((state) => state === '"ready"'),
      { pauseMs: POLL_MS },
    );
  /** The node that answers at an address. */
  const nodeAt = (address: string): string =>
    network.look('client', ...DIG, `@${address}`, 'CH', 'TXT', 'hostname.bind').replaceAll('"', '');
  const untilBothAt = (node: Node): Promise<unknown> =>
    until(
      `Weir ${node} to answer at both addresses`,
      () => [nodeAt(FIRST), nodeAt(SECOND)],
      (found) => found.every((one) => one === node),
      { pauseMs: POLL_MS },
    );
  const holds = (node: Node, address: string): boolean =>
    network.run(node, 'ip', 'address', 'show', 'dev', 'eth0').includes(` ${address}/`);

  beforeAll(async () => {
    for (const [machine, address] of Object.entries(ADDRESSES)) network.add(machine, `${address}/24`);
    for (const node of ['a', 'b'] as const) {
      const own = makeTempDir();
      tempDirs.push(own);
      stack.defer(() => own.remove());
      await prepareDataDir(own.dataDir);
      startWeir(node);
    }
    await untilReady('a', 'b');
  });

  afterAll(() => stack.disposeAsync());

  describe('keepalived.conf', () => {
    const keepalived = (node: Node): OwnProcess => {
      const script = join(workDir, 'check-weir');
      const conf = edited('keepalived.conf', `${node}.conf`, { '/etc/keepalived/check-weir': script });
      const pids = ['--pid', join(workDir, `${node}.pid`), '--vrrp_pid', join(workDir, `${node}-vrrp.pid`)];
      const command = ['keepalived', '--dont-fork', '--log-console', '--vrrp', `--config-id=${node}`];
      return started(network.start(node, [...command, '--use-file', conf, ...pids]));
    };

    test('are both assigned to the first server that is ready, and stay there when a later server is ready', async () => {
      copyFileSync(join(DEPLOY, 'check-weir'), join(workDir, 'check-weir'));
      keepalived('a');
      await untilBothAt('a');
      const ofB = keepalived('b');
      // The keepalived of the second Weir server has the higher priority, because that server is healthy.
      await ofB.untilOutput(/VRRP_Script\(weir\) succeeded/);
      expect([nodeAt(FIRST), nodeAt(SECOND)]).toEqual(['a', 'a']);
    });

    test('move to the other server when Weir stops or is killed', async () => {
      await weirs.a!.end('SIGTERM');
      await untilBothAt('b');
      expect([holds('a', FIRST), holds('b', FIRST)]).toEqual([false, true]);
      startWeir('a');
      await untilReady('a');
      await weirs.b!.end('SIGKILL');
      await untilBothAt('a');
      startWeir('b');
      await untilReady('b');
    });
  });

  describe('with bird.conf and announce-weir, or exabgp.conf,', () => {
    const socket = (machine: string): string => join(workDir, `${machine}.ctl`);
    const bird = (machine: string, conf: string): void =>
      void started(
        network.start(machine, [
          'bird',
          '-f',
          '-c',
          conf,
          '-s',
          socket(machine),
          '-P',
          join(workDir, `${machine}-bird.pid`),
        ]),
      );
    const nextHops = (address: string): string[] => {
      const routes = network.look('client', 'birdc', '-s', socket('client'), 'show', 'route', 'for', address);
      return [...routes.matchAll(/via (\S+)/g)].map(([, hop]) => hop!).toSorted();
    };

    const untilAnnounced = (routes: number): Promise<unknown> =>
      until(
        `${routes} routes to each address`,
        () => [nextHops(ANYCAST), nextHops(BY_EXABGP)],
        (hops) => hops.every(({ length }) => length === routes),
        { pauseMs: POLL_MS },
      );

    const exabgp = (node: Node): void => {
      network.run(node, 'ip', 'address', 'add', `${SPEAKERS[node]}/24`, 'dev', 'eth0');
      const conf = edited('exabgp.conf', `${node}-exabgp.conf`, {
        '198.51.100.2': SPEAKERS[node],
        '198.51.100.1': ADDRESSES.client,
        '192.0.2.53/32': `${BY_EXABGP}/32`,
        '/etc/exabgp/check-weir': join(DEPLOY, 'check-weir'),
      });
      started(
        network.start(node, ['exabgp', conf], { 'exabgp.api.cli': 'false', 'exabgp.daemon.user': 'root' }),
      );
    };

    beforeAll(() => {
      const session = '{ import all; export none; }';
      const peer = (node: Node): string =>
        `protocol bgp ${node} { local as 64500; neighbor ${ADDRESSES[node]} as 64553; bfd; ipv4 ${session}; }\n` +
        `protocol bgp exabgp_${node} { local as 64500; neighbor ${SPEAKERS[node]} as 64553; passive; ipv4 ${session}; }`;
      const conf = join(workDir, 'router.conf');
      const bfd = 'protocol bfd { interface "*" { interval 200 ms; multiplier 3; }; }';
      writeFileSync(
        conf,
        `router id ${ADDRESSES.client};\nprotocol device { }\n${bfd}\n${peer('a')}\n${peer('b')}\n`,
      );
      bird('client', conf);
      for (const node of ['a', 'b'] as const) {
        network.run(node, 'ip', 'address', 'add', `${ANYCAST}/32`, 'dev', 'lo');
        const own = {
          '198.51.100.2': ADDRESSES[node],
          '198.51.100.1': ADDRESSES.client,
          '192.0.2.53/32': `${ANYCAST}/32`,
        };
        bird(node, edited('bird.conf', `${node}-bird.conf`, own));
        started(network.start(node, [join(DEPLOY, 'announce-weir')], { BIRD_SOCKET: socket(node) }));
        exabgp(node);
      }
    });

    test('are announced by each server that is ready', async () => {
      await untilAnnounced(2);
      expect(nextHops(ANYCAST)).toEqual([ADDRESSES.a, ADDRESSES.b]);
      expect(nextHops(BY_EXABGP)).toEqual([SPEAKERS.a, SPEAKERS.b]);
    });

    test('are withdrawn when Weir stops or is killed', async () => {
      await weirs.a!.end('SIGTERM');
      await untilAnnounced(1);
      expect([...nextHops(ANYCAST), ...nextHops(BY_EXABGP)]).toEqual([ADDRESSES.b, SPEAKERS.b]);
      await weirs.b!.end('SIGKILL');
      await untilAnnounced(0);
    });
  });
});
