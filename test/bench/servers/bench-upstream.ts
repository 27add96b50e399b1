// The upstream of every server: answers everything with a fixed record with a TTL of one day, and reports the number of
// queries it received, which shows whether a server's cache was really warm. Runs on the generator's core.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TestAuthority } from '../../support/dns/certificates.ts';
import type { NativeTools } from '../native-tools.ts';
import type { Child } from '../process/child.ts';
import { lastLines, startChild } from '../process/child.ts';
import { locate } from '../process/locate.ts';
import type { UpstreamManner } from '../workload.ts';
import { probe } from './answer-probe.ts';
import { UPSTREAM_NAME } from './peer-server.ts';

const COUNT_PATIENCE_MS = 2000;

export interface Upstream {
  name: string;
  port: number;
  /** The certificate authority of the upstream, for DNS over TLS; undefined = plain DNS. */
  caPath: string | undefined;
  /** Number of questions since the upstream was started. */
  questionCount(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the upstream: the C program, or `node-upstream.ts` if the C program could not be built. */
export async function startUpstream(
  native: NativeTools | undefined,
  port: number,
  core: number,
  dir: string,
  { delayMs, transport }: UpstreamManner = { delayMs: 0, transport: 'udp' },
): Promise<Upstream> {
  if (transport === 'tls') return startTlsUpstream(port, core, dir);
  const delayed = delayMs === 0 ? [] : [String(delayMs)];
  const launch =
    native === undefined
      ? {
          command: process.execPath,
          args: [join(import.meta.dirname, 'node-upstream.ts'), String(port), ...delayed],
        }
      : { command: native.echo, args: ['answer', String(port), ...delayed] };
  const child = await startChild(launch, [core], join(dir, 'upstream.log'));
  while ((await probe(port, 'ready.example.com')) !== 'allowed') {
    if (child.ended() !== undefined) throw new Error(`start upstream: ${lastLines(child)}`);
    await delay(20);
  }
  return {
    name: native === undefined ? 'node-upstream' : 'dns-echo answer',
    port,
    caPath: undefined,
    questionCount: async () => askCount(child),
    stop: async () => child.stop(),
  };
}

/** An upstream over TLS: unbound with one record for every name. Throws if unbound is not installed. */
async function startTlsUpstream(port: number, core: number, dir: string): Promise<Upstream> {
  const [command, control] = [locate('unbound'), locate('unbound-control')];
  if (command === undefined || control === undefined)
    throw new Error('start the upstream over TLS: unbound is not installed');
  const authority = new TestAuthority();
  process.once('exit', () => authority.close());
  const { certPath, keyPath } = authority.issue(`DNS:${UPSTREAM_NAME}`);
  const file = join(dir, 'upstream.conf');
  writeFileSync(
    file,
    `server:
  directory: "${dir}"
  chroot: ""
  username: ""
  use-syslog: no
  interface: 127.0.0.1@${port}
  tls-port: ${port}
  tls-service-pem: "${certPath}"
  tls-service-key: "${keyPath}"
  incoming-num-tcp: 1000
  num-threads: 1
  local-zone: "." redirect
  local-data: ". 86400 IN A 192.0.2.1"
remote-control:
  control-enable: yes
  control-use-cert: no
  control-interface: ${join(dir, 'control.sock')}
`,
  );
  const child = await startChild(
    { command, args: ['-d', '-p', '-c', file] },
    [core],
    join(dir, 'output.log'),
  );
  while (!(await accepts(port))) {
    if (child.ended() !== undefined) throw new Error(`start upstream over TLS: ${lastLines(child)}`);
    await delay(20);
  }
  return {
    name: 'unbound over TLS',
    port,
    caPath: join(authority.folder, 'ca.pem'),
    questionCount: async () => {
      const { stdout } = await promisify(execFile)(control, ['-c', file, 'stats_noreset']);
      return Number(/^total\.num\.queries=(\d+)$/m.exec(stdout)?.[1]);
    },
    stop: async () => child.stop(),
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect').then(
    () => {
      socket.destroy();
      return true;
    },
    () => false,
  );
}

/** Requests the number of questions by SIGUSR1, upon which the upstream writes the number as a new line to its log. */
async function askCount(child: Child): Promise<number> {
  const before = lines(child.logFile).length;
  process.kill(child.pid, 'SIGUSR1');
  for (let waitedMs = 0; waitedMs < COUNT_PATIENCE_MS; waitedMs += 5) {
    const now = lines(child.logFile);
    if (now.length > before) return Number(now.at(-1));
    await delay(5);
  }
  throw new Error(`ask upstream for its count: no answer in ${COUNT_PATIENCE_MS} ms`);
}

function lines(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
