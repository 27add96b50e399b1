/**
 * DNS servers whose file formats lists use. Each is started with one file and forwards all other names to an upstream.
 * A suite declares the servers that it starts: `@needs unbound bind9 dnsmasq-base`.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../parts/until.ts';
import { UdpClient } from './dns-client.ts';
import { requireProgram } from '../parts/programs.ts';
import { freePort } from '../weir/free-ports.ts';
import { run, type RunningProgram } from './authority.ts';

const LOOPBACK = '127.0.0.1';

/** Starts a server with the lines of a file, forwarding to a local port. */
export type PolicyServer = (lines: readonly string[], upstreamPort: number) => Promise<RunningProgram>;

/** Unbound with extra configuration options. */
export const startUnboundZones: PolicyServer = async (lines, upstreamPort) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-zones-'));
  const port = await freePort([LOOPBACK]);
  const config = `server:
  interface: ${LOOPBACK}
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
remote-control:
  control-enable: no
forward-zone:
  name: "."
  forward-addr: ${LOOPBACK}@${String(upstreamPort)}
server:
${lines.join('\n')}
`;
  writeFileSync(join(folder, 'unbound.conf'), config);
  return run(requireProgram('unbound'), ['-d', '-c', join(folder, 'unbound.conf')], folder, port);
};

/** dnsmasq with a configuration. */
export const startDnsmasqLines: PolicyServer = async (lines, upstreamPort) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-lines-'));
  const port = await freePort([LOOPBACK]);
  const config = `port=${String(port)}
listen-address=${LOOPBACK}
bind-interfaces
user=
pid-file=
no-resolv
no-hosts
server=${LOOPBACK}#${String(upstreamPort)}
${lines.join('\n')}
`;
  writeFileSync(join(folder, 'dnsmasq.conf'), config);
  const options = ['--keep-in-foreground', `--conf-file=${join(folder, 'dnsmasq.conf')}`];
  return run(requireProgram('dnsmasq'), options, folder, port);
};

/**
 * A name that BIND's policy zone contains in addition to the lines of the file; its answer shows that the zone is
 * loaded.
 */
const LOADED = 'loaded.test';

/** BIND with a response policy zone named `rpz.local`. Waits until the zone is loaded, because BIND answers earlier. */
export const startPolicyZone: PolicyServer = async (lines, upstreamPort) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-policy-'));
  const port = await freePort([LOOPBACK]);
  writeFileSync(join(folder, 'zone'), `${lines.join('\n')}\n${LOADED}.rpz.local. 60 IN CNAME .\n`);
  const config = `options {
  directory "${folder}";
  pid-file none;
  session-keyfile "${folder}/session.key";
  managed-keys-directory "${folder}";
  listen-on port ${String(port)} { ${LOOPBACK}; };
  listen-on-v6 { none; };
  recursion yes;
  forward only;
  forwarders { ${LOOPBACK} port ${String(upstreamPort)}; };
  dnssec-validation no;
  empty-zones-enable no;
  response-policy { zone "rpz.local"; } qname-wait-recurse no;
};
zone "rpz.local" { type primary; file "${folder}/zone"; check-names ignore; };
logging { category default { null; }; };
controls { };
`;
  writeFileSync(join(folder, 'named.conf'), config);
  const options = ['-f', '-n', '1', '-c', join(folder, 'named.conf')];
  const server = await run(requireProgram('named'), options, folder, port);
  const client = await UdpClient.open(port);
  try {
    await until(
      'BIND to block a name of its policy zone',
      () => client.askAll([{ name: LOADED, type: 'A' }]),
      ([reply]) => (reply!.message.answers ?? []).length === 0,
    );
  } finally {
    client.close();
  }
  return server;
};
