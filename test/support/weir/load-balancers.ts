/**
 * Third-party load balancers in front of a Weir server, on free ports: HAProxy for connections, dnsdist for datagrams.
 *
 * @needs haproxy dnsdist
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireProgram } from '../parts/programs.ts';
import { freePort } from './free-ports.ts';
import { OwnProcess } from './weir-process.ts';

const ADDRESS = '127.0.0.1';
/** Source address of the load balancers, which distinguishes them from other local programs. */
export const BALANCER = '127.0.0.9';

/** Maximum number of checks of a port; a pause follows each. */
const MAX_POLLS = 1000;
const POLL_MS = 20;
/** Socket of HAProxy, in its own folder. */
const STATS = 'stats';

/** A running load balancer. */
export interface LoadBalancer {
  /** Ports on which the load balancer listens, in the order of its servers. */
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

/** Ports of Weir in `deploy/balancers/`: DNS, DNS over TLS and HTTPS, the web. */
const EXAMPLE_PORTS = [53, 853, 443, 8080] as const;

/** HAProxy, which reports the state of its servers. */
export interface Haproxy extends LoadBalancer {
  /** State and result of the last probe, by `backend/server`, such as `UP L7OK`. */
  states(): Promise<Record<string, string>>;
}

/**
 * HAProxy with `deploy/balancers/haproxy.cfg`, in front of the ports of one Weir server in the order of
 * `EXAMPLE_PORTS`.
 */
export async function startHaproxy(servers: readonly [number, number, number, number]): Promise<Haproxy> {
  const ports: number[] = [];
  let configuration =
    `global\n  stats socket unix@${STATS} level user\n` +
    example('haproxy.cfg').replaceAll('send-proxy-v2', `send-proxy-v2 source ${BALANCER}`);
  for (const [i, port] of EXAMPLE_PORTS.entries()) {
    ports.push(await freePort([ADDRESS]));
    configuration = configuration
      .replace(`bind :${port}\n`, `bind ${ADDRESS}:${ports[i]!}\n`)
      .replaceAll(new RegExp(`192\\.0\\.2\\.[12]:${port}\\b`, 'g'), `${ADDRESS}:${servers[i]!}`);
  }
  const started = await start('haproxy', ['-db', '-f'], configuration, {
    ports,
    ready: (running) => untilListening(running, ports),
  });
  return { ...started, states: () => readStates(join(started.folder, STATS)) };
}

/**
 * dnsdist with `deploy/balancers/dnsdist.conf`, in front of this port. Weir must resolve the name that dnsdist's health
 * checks query.
 */
export async function startDnsdist(server: number): Promise<LoadBalancer> {
  const port = await freePort([ADDRESS]);
  const configuration = example('dnsdist.conf')
    .replace('setLocal("0.0.0.0:53")', `setLocal("${ADDRESS}:${port}")\nsetSecurityPollSuffix("")`)
    .replaceAll(/192\.0\.2\.[12]:53\b/g, `${ADDRESS}:${server}`)
    .replace('address = address,', `address = address, source = "${BALANCER}",`);
  return start('dnsdist', ['--supervised', '-C'], configuration, {
    ports: [port],
    ready: (running) => running.untilOutput(/Marking .* as 'up'/),
  });
}

/** A configuration file for operators, who replace its addresses. */
function example(file: string): string {
  return readFileSync(new URL(`../../../deploy/balancers/${file}`, import.meta.url), 'utf8');
}

/** Parses text in lines of comma-separated values, whose names are in the first line. */
async function readStates(path: string): Promise<Record<string, string>> {
  const socket = connect(path);
  socket.end('show stat\n');
  const [head = '', ...lines] = (await text(socket)).trim().split('\n');
  const names = head.replace(/^# /, '').split(',');
  const rows = lines.map((line) => {
    const values = line.split(',');
    return (name: string): string => values[names.indexOf(name)] ?? '';
  });
  return Object.fromEntries(
    rows.map((value) => [
      `${value('pxname')}/${value('svname')}`,
      // An asterisk means that the next probe is being sent.
      `${value('status')} ${value('check_status').replace('* ', '')}`,
    ]),
  );
}

async function start(
  command: string,
  args: readonly string[],
  configuration: string,
  { ports, ready }: Pick<LoadBalancer, 'ports'> & { readonly ready: (running: OwnProcess) => Promise<void> },
): Promise<LoadBalancer & { readonly folder: string }> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'weir-balancer-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'balancer.conf');
  writeFileSync(file, configuration);
  const running = stack.use(
    new OwnProcess(requireProgram(command), [...args, file], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
    }),
  );
  await ready(running);
  const started = stack.move();
  return { ports, folder, stop: () => started.disposeAsync() };
}

/** Waits until a program that prints nothing when it is ready listens on all these ports. */
async function untilListening(running: OwnProcess, ports: readonly number[]): Promise<void> {
  for (const port of ports)
    for (let looks = 0; !(await isListening(port)); looks++) {
      if (running.hasEnded || looks === MAX_POLLS)
        throw new Error(`start a load balancer: nothing listens on port ${port}; it said: ${running.output}`);
      await sleep(POLL_MS);
    }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, ADDRESS);
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
