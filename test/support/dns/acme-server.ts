/**
 * An ACME server for tests: Pebble, which rejects half of all nonces, and BIND with the zone example.org. Pebble
 * queries BIND, and BIND accepts updates with a key. All names of the zone have the loopback address.
 *
 * @needs pebble bind9
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:net';
import { requireProgram } from '../parts/programs.ts';
import { until } from '../parts/until.ts';
import { freePort } from '../weir/free-ports.ts';
import { TestAuthority } from './certificates.ts';

const LOOPBACK = '127.0.0.1';
export const TSIG_NAME = 'weir-key';
const TSIG_SECRET = Buffer.from('a secret of the tests').toString('base64');
const ZONE = `$TTL 1
@ SOA ns root 1 60 60 60 1
@ NS ns
@ A ${LOOPBACK}
* A ${LOOPBACK}

`;

/** A server that runs until it is disposed of. */
export class AcmeServer implements AsyncDisposable {
  readonly directoryUrl: string;
  /** Port to which the server connects for HTTP-01. */
  readonly httpPort: number;
  readonly dnsPort: number;
  /** Certificate of the server's certificate authority. */
  readonly caPath: string;
  readonly tsigPath: string;
  private readonly folder: string;
  private readonly authority: TestAuthority;
  private readonly programs: readonly ChildProcess[];

  private constructor(folder: string, authority: TestAuthority, ports: Ports) {
    this.folder = folder;
    this.authority = authority;
    this.directoryUrl = `https://${LOOPBACK}:${ports.acme}/dir`;
    this.httpPort = ports.http;
    this.dnsPort = ports.dns;
    this.caPath = join(authority.folder, 'ca.pem');
    this.tsigPath = join(folder, 'tsig');
    writeFileSync(this.tsigPath, `${TSIG_SECRET}\n`);
    writeFileSync(join(folder, 'zone'), ZONE);
    writeFileSync(join(folder, 'named.conf'), namedConfig(folder, ports.dns));
    writeFileSync(join(folder, 'pebble.json'), pebbleConfig(authority, ports));
    const run = (program: string, args: readonly string[], env = {}): ChildProcess =>
      spawn(requireProgram(program), args, { stdio: 'ignore', cwd: folder, env: { ...process.env, ...env } });
    this.programs = [
      run('named', ['-f', '-c', 'named.conf', '-p', String(ports.dns)]),
      run('pebble', ['-config', 'pebble.json', '-dnsserver', `${LOOPBACK}:${ports.dns}`], {
        PEBBLE_VA_NOSLEEP: '1',
        PEBBLE_WFE_NONCEREJECT: '50',
      }),
    ];
  }

  static async start(): Promise<AcmeServer> {
    const port = (): Promise<number> => freePort([LOOPBACK]);
    const ports = { acme: await port(), management: await port(), http: await port(), dns: await port() };
    const folder = mkdtempSync(join(tmpdir(), 'weir-acme-'));
    const server = new AcmeServer(folder, new TestAuthority(), { ...ports, tls: await port() });
    for (const wanted of [ports.acme, ports.dns])
      await until(`port ${wanted} of the ACME server`, () => isOpen(wanted));
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.programs) {
      const ended = program.exitCode === null ? once(program, 'exit') : null;
      program.kill('SIGKILL');
      await ended;
    }
    this.authority.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface Ports {
  readonly acme: number;
  readonly management: number;
  readonly http: number;
  readonly tls: number;
  readonly dns: number;
}

function pebbleConfig(authority: TestAuthority, ports: Ports): string {
  const { certPath, keyPath } = authority.issue(`IP:${LOOPBACK}`);
  return JSON.stringify({
    pebble: {
      listenAddress: `${LOOPBACK}:${ports.acme}`,
      managementListenAddress: `${LOOPBACK}:${ports.management}`,
      certificate: certPath,
      privateKey: keyPath,
      httpPort: ports.http,
      tlsPort: ports.tls,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
      domainBlocklist: ['refused.example.org'],
    },
  });
}

function namedConfig(folder: string, port: number): string {
  return `options {
  directory "${folder}";
  listen-on port ${port} { ${LOOPBACK}; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion no;
  notify no;
};
controls { };
key "${TSIG_NAME}" { algorithm hmac-sha256; secret "${TSIG_SECRET}"; };
zone "example.org" {
  type primary;
  file "zone";
  update-policy { grant ${TSIG_NAME} wildcard *.example.org. TXT; };
};
`;
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ host: LOOPBACK, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
