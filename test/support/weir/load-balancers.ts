/**
 * Load balancers of others, started on free ports before a Weir: HAProxy for connections, dnsdist for datagrams.
 *
 * @needs haproxy dnsdist
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireProgram } from '../parts/programs.ts';
import { freePort } from './free-ports.ts';
import { OwnProcess } from './weir-process.ts';

const ADDRESS = '127.0.0.1';
/** Where load balancers connect from, so that other programs of this machine can be told from them. */
export const BALANCER = '127.0.0.9';

/** For at most so many looks at a port, a pause after each. */
const LOOKS = 1000;
const LOOK_MS = 20;

/** A load balancer that runs. */
export interface LoadBalancer {
  /** Where it listens, in the order of its servers. */
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

/** HAProxy that hands connections on to these ports, with a PROXY header before each; it checks them with LOCAL. */
export async function startHaproxy(servers: readonly number[]): Promise<LoadBalancer> {
  const ports: number[] = [];
  for (const _server of servers) ports.push(await freePort([ADDRESS]));
  const sections = servers.map(
    (server, i) => `listen l${i}
  bind ${ADDRESS}:${ports[i]!}
  server weir ${ADDRESS}:${server} source ${BALANCER} send-proxy-v2 proxy-v2-options crc32c check inter 200ms`,
  );
  const defaults = 'defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 20s\n  timeout server 20s';
  return start('haproxy', ['-db', '-f'], `${defaults}\n${sections.join('\n')}\n`, {
    ports,
    ready: (running) => untilListening(running, ports),
  });
}

/** dnsdist that hands datagrams on to this port, with a PROXY header before each; Weir must know `here.home.example`. */
export async function startDnsdist(server: number): Promise<LoadBalancer> {
  const port = await freePort([ADDRESS]);
  const configuration = `setLocal("${ADDRESS}:${port}")
setSecurityPollSuffix("")
newServer({address="${ADDRESS}:${server}", source="${BALANCER}", useProxyProtocol=true, checkName="here.home.example.", checkInterval=1})
`;
  return start('dnsdist', ['--supervised', '-C'], configuration, {
    ports: [port],
    ready: (running) => running.untilOutput(/Marking .* as 'up'/),
  });
}

async function start(
  command: string,
  args: readonly string[],
  configuration: string,
  { ports, ready }: Pick<LoadBalancer, 'ports'> & { readonly ready: (running: OwnProcess) => Promise<void> },
): Promise<LoadBalancer> {
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
  return { ports, stop: () => started.disposeAsync() };
}

/** Waits until a program that says nothing when it is ready listens on all these ports. */
async function untilListening(running: OwnProcess, ports: readonly number[]): Promise<void> {
  for (const port of ports)
    for (let looks = 0; !(await isListening(port)); looks++) {
      if (running.hasEnded || looks === LOOKS)
        throw new Error(`start a load balancer: nothing listens on port ${port}; it said: ${running.output}`);
      await sleep(LOOK_MS);
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
