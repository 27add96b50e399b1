// The servers of the edge bench: each answers over UDP, TCP, TLS and HTTPS from its cache, with one thread.
import { Resolver } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestCertificate } from '../../support/dns/certificates.ts';
import { ROOT } from '../bench.ts';
import type { Child, Launch } from '../process/child.ts';
import { lastLines, startChild } from '../process/child.ts';
import { locate } from '../process/locate.ts';

const START_TIMEOUT_MS = 60_000;
const READY_NAME = 'ready.example.com';

/** Ports of a server. */
export interface EdgePorts {
  readonly dns: number;
  readonly dot: number;
  readonly doh: number;
}

/** Parameters with which each server is started. */
export interface EdgeEnvironment {
  readonly dir: string;
  readonly ports: EdgePorts;
  readonly upstreamPort: number;
  readonly certificate: TestCertificate;
  /** More tables of Weir's configuration. */
  readonly toml?: string;
}

/** A running server. */
export interface EdgeServer {
  readonly name: string;
  readonly child: Child;
  readonly ports: EdgePorts;
}

type Preparation = (environment: EdgeEnvironment) => Launch | undefined;

/** Starts a server by its name; the result is undefined if the program is not installed. */
const PREPARATIONS: Readonly<Record<string, Preparation>> = { weir, dnsdist, unbound };
export const EDGE_SERVERS = Object.keys(PREPARATIONS);

/** Starts a server and waits for its first answer; undefined if it is not installed. */
export async function startEdgeServer(
  name: string,
  environment: EdgeEnvironment,
  core: number,
): Promise<EdgeServer | undefined> {
  const launch = PREPARATIONS[name]!(environment);
  if (launch === undefined) return undefined;
  const child = await startChild(launch, [core], join(environment.dir, `${name}.log`));
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await answers(environment.ports.dns))) {
    if (child.ended() !== undefined || performance.now() > deadline)
      throw new Error(`start ${name}: ${lastLines(child)}`);
    await delay(20);
  }
  return { name, child, ports: environment.ports };
}

async function answers(port: number): Promise<boolean> {
  const resolver = new Resolver({ timeout: 300, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return resolver.resolve4(READY_NAME).then(
    () => true,
    () => false,
  );
}

function weir({ dir, ports, upstreamPort, certificate, toml = '' }: EdgeEnvironment): Launch {
  const file = join(dir, 'weir.toml');
  writeFileSync(
    file,
    `[server]
dns_port = ${ports.dns}
web_port = ${ports.doh + 1}
bind_address = ["127.0.0.1"]
workers = 1
node_name = "edge"
data_dir = ${JSON.stringify(join(dir, 'data'))}
[server.encrypted_dns]
dot_enabled = true
dot_port = ${ports.dot}
doh_enabled = true
doh_port = ${ports.doh}
tls_cert_path = ${JSON.stringify(certificate.certPath)}
tls_key_path = ${JSON.stringify(certificate.keyPath)}
[[dns.pools]]
name = "bench"
servers = ["127.0.0.1:${upstreamPort}"]
[blocking]
catalog_url = ""
[logging]
level = "warn"
${toml}`,
  );
  const command = join(ROOT, 'control-plane', 'cli', 'weir');
  return { command, args: ['start', '--config', file], cwd: dir };
}

function dnsdist({ dir, ports, upstreamPort, certificate }: EdgeEnvironment): Launch | undefined {
  const command = locate('dnsdist');
  if (command === undefined) return undefined;
  const { certPath, keyPath } = certificate;
  const file = join(dir, 'dnsdist.conf');
  writeFileSync(
    file,
    `setLocal("127.0.0.1:${ports.dns}")
addTLSLocal("127.0.0.1:${ports.dot}", "${certPath}", "${keyPath}", {provider="openssl"})
addDOHLocal("127.0.0.1:${ports.doh}", "${certPath}", "${keyPath}", "/dns-query")
setACL({"127.0.0.0/8"})
setSecurityPollSuffix("")
setMaxTCPClientThreads(1)
newServer({address="127.0.0.1:${upstreamPort}"}):setUp()
getPool(""):setCache(newPacketCache(200000, {maxTTL=86400}))
`,
  );
  return { command, args: ['--supervised', '--disable-syslog', '-C', file] };
}

function unbound({ dir, ports, upstreamPort, certificate }: EdgeEnvironment): Launch | undefined {
  const command = locate('unbound');
  if (command === undefined) return undefined;
  const file = join(dir, 'unbound.conf');
  writeFileSync(
    file,
    `server:
  directory: "${dir}"
  chroot: ""
  username: ""
  use-syslog: no
  verbosity: 0
  interface: 127.0.0.1@${ports.dns}
  interface: 127.0.0.1@${ports.dot}
  interface: 127.0.0.1@${ports.doh}
  port: ${ports.dns}
  tls-port: ${ports.dot}
  https-port: ${ports.doh}
  tls-service-pem: "${certificate.certPath}"
  tls-service-key: "${certificate.keyPath}"
  incoming-num-tcp: 1000
  http-max-streams: 100
  access-control: 127.0.0.0/8 allow
  num-threads: 1
  module-config: "iterator"
  do-not-query-localhost: no
  msg-cache-size: 64m
  rrset-cache-size: 128m
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstreamPort}
remote-control:
  control-enable: no
`,
  );
  return { command, args: ['-d', '-p', '-c', file] };
}
