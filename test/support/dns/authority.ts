/**
 * Real DNS servers on loopback for tests: NSD with a zone, Unbound that forwards to it, and dnsmasq in the role of a
 * router. Each runs as the current user in its own directory. A suite declares the servers that it starts: `@needs
 * nsd`.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeMessage } from '../../../shared/dns/codec.ts';
import { requireProgram } from '../parts/programs.ts';
import { until, within } from '../parts/until.ts';
import { freePort } from '../weir/free-ports.ts';

const LOOPBACK = '127.0.0.1';

/** A running server. */
export interface RunningServer {
  readonly ip: string;
  readonly port: number;
  close(): Promise<void>;
}

/** A server in a separate process. */
export interface RunningProgram extends RunningServer {
  readonly pid: number;
}

/** A zone that NSD serves. */
export interface ServedZone {
  readonly zone: string;
  /** File of the zone. */
  readonly path: string;
}

/** Starts NSD as the authority for one zone. */
export async function startNsd(zone: string, zoneText: string): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-zone-'));
  const path = join(folder, 'zone');
  writeFileSync(path, zoneText);
  const server = await startNsdOn([{ zone, path }]);
  return {
    ...server,
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts NSD as the authority for these zones. */
export async function startNsdOn(zones: readonly ServedZone[]): Promise<RunningProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-nsd-'));
  const port = await freePort([LOOPBACK]);
  const config = `server:
  ip-address: 127.0.0.1
  port: ${String(port)}
  username: ""
  chroot: ""
  zonesdir: "${folder}"
  pidfile: "${folder}/nsd.pid"
  xfrdfile: ""
  zonelistfile: "${folder}/zone.list"
  xfrdir: "${folder}"
  database: ""
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${zones.map(({ zone, path }) => `zone:\n  name: "${zone}"\n  zonefile: "${path}"\n`).join('')}`;
  writeFileSync(join(folder, 'nsd.conf'), config);
  return run(requireProgram('nsd'), ['-d', '-c', join(folder, 'nsd.conf')], folder, port);
}

/** A resolver that also answers over TLS and over HTTPS. */
export interface EncryptedServer extends RunningServer {
  readonly tlsPort: number;
  readonly httpsPort: number;
}

/**
 * Starts Unbound as a resolver for one zone, over UDP, TCP and TLS, and over HTTPS if Unbound was built with HTTPS
 * support.
 */
export async function startEncryptedUnbound(
  zone: string,
  authorityPort: number,
  certificate: { readonly certPath: string; readonly keyPath: string },
): Promise<EncryptedServer> {
  const tlsPort = await freePort([LOOPBACK]);
  const httpsPort = await freePort([LOOPBACK]);
  const more = `  interface: 127.0.0.1@${String(tlsPort)}
  interface: 127.0.0.1@${String(httpsPort)}
  tls-port: ${String(tlsPort)}
  https-port: ${String(httpsPort)}
  tls-service-pem: "${certificate.certPath}"
  tls-service-key: "${certificate.keyPath}"
`;
  return { ...(await startUnbound(zone, authorityPort, more)), tlsPort, httpsPort };
}

/** Starts Unbound as a resolver that queries the authority on `authorityPort` for one zone. */
export async function startUnbound(
  zone: string,
  authorityPort: number,
  moreOfServer = '',
): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-unbound-'));
  const port = await freePort([LOOPBACK]);
  const config = `server:
  interface: 127.0.0.1
  port: ${String(port)}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  do-not-query-localhost: no
  module-config: "iterator"
  local-zone: "test." nodefault
${moreOfServer}remote-control:
  control-enable: no
stub-zone:
  name: "${zone}"
  stub-addr: 127.0.0.1@${String(authorityPort)}
`;
  writeFileSync(join(folder, 'unbound.conf'), config);
  return run(requireProgram('unbound'), ['-d', '-c', join(folder, 'unbound.conf')], folder, port);
}

/** Starts Unbound as a validating client of the resolver on this port; `anchor` is a DS record as text. */
export async function startValidatingUnbound(resolverPort: number, anchor: string): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-unbound-'));
  const port = await freePort([LOOPBACK]);
  const config = `server:
  interface: 127.0.0.1
  port: ${String(port)}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  do-not-query-localhost: no
  module-config: "validator iterator"
  trust-anchor: "${anchor}"
remote-control:
  control-enable: no
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${String(resolverPort)}
`;
  writeFileSync(join(folder, 'unbound.conf'), config);
  return run(requireProgram('unbound'), ['-d', '-c', join(folder, 'unbound.conf')], folder, port);
}

/** Starts dnsmasq as the server of a local network. `records` are options such as `--host-record=…`. */
export async function startDnsmasq(records: readonly string[]): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-dnsmasq-'));
  const port = await freePort([LOOPBACK]);
  const options = [
    '--keep-in-foreground',
    '--conf-file=/dev/null',
    '--no-resolv',
    '--no-hosts',
    '--pid-file=',
  ];
  const listening = [`--port=${String(port)}`, '--listen-address=127.0.0.1', '--bind-interfaces', '--user='];
  return run(requireProgram('dnsmasq'), [...options, ...listening, ...records], folder, port);
}

/**
 * Starts a server that keeps its files in `folder`, and waits until it answers. Closing the server deletes the folder.
 */
export async function run(
  program: string,
  args: string[],
  folder: string,
  port: number,
): Promise<RunningProgram> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const close = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await within(`${program} to end after SIGTERM`, exit, { lastSeen: () => output });
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilAnswers(child, port, () => `${program}: ${output}`);
  } catch (error) {
    await close();
    throw error;
  }
  return { ip: '127.0.0.1', port, pid: child.pid ?? 0, close };
}

/** Sends queries until a response arrives. Rejects with the program's output if none arrives or the program ends. */
async function untilAnswers(child: ChildProcess, port: number, said: () => string): Promise<void> {
  const socket = createSocket('udp4');
  const query = encodeMessage({ type: 'query', id: 1, questions: [{ name: 'ready.test', type: 'A' }] });
  let answers = 0;
  socket.on('message', () => answers++);
  socket.on('error', () => undefined);
  try {
    await until(
      `a DNS server to answer on port ${String(port)}`,
      () => {
        if (child.exitCode !== null) throw new Error(`start a DNS server: it ended; ${said()}`);
        socket.send(query, port, LOOPBACK, () => undefined);
        return said();
      },
      () => answers > 0,
      { pauseMs: 50 },
    );
  } finally {
    socket.close();
  }
}
