// unbound: the list as local zones, as in published unbound lists. A local zone also covers subdomains, at no cost for
// unbound; no question of the mix is for such a subdomain.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import { type BenchServer, type ServerEnvironment, UPSTREAM_NAME } from './peer-server.ts';

export const unbound: BenchServer = {
  name: 'unbound',
  filters: true,
  logsQueries: true,
  asksOverTls: true,
  installed: () => {
    const binary = locate('unbound');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['-V']) };
  },
  prepare: (environment, binary) => {
    const file = join(environment.dir, 'unbound.conf');
    writeFileSync(file, configuration(environment));
    return { command: binary, args: ['-d', '-p', '-c', file] };
  },
};

function forwarding({ upstreamPort, upstreamCa }: ServerEnvironment): string {
  const address = `forward-addr: 127.0.0.1@${upstreamPort}`;
  return upstreamCa === undefined ? address : `forward-tls-upstream: yes\n  ${address}#${UPSTREAM_NAME}`;
}

function configuration(environment: ServerEnvironment): string {
  return `server:
  directory: "${environment.dir}"
  chroot: ""
  username: ""
  use-syslog: no
  logfile: ${environment.queryLog ? `"${join(environment.dir, 'query.log')}"` : '""'}
  log-queries: ${environment.queryLog ? 'yes' : 'no'}
  verbosity: 0
  interface: 127.0.0.1
  port: ${environment.port}
  access-control: 127.0.0.0/8 allow
  num-threads: 1
  module-config: "iterator"
  do-not-query-localhost: no
  so-rcvbuf: 4m
  so-sndbuf: 4m
  ${environment.upstreamCa === undefined ? '' : `tls-cert-bundle: "${environment.upstreamCa}"`}
  outgoing-range: 4096
  num-queries-per-thread: 4096
  msg-cache-size: 128m
  rrset-cache-size: 256m
forward-zone:
  name: "."
  ${forwarding(environment)}
remote-control:
  control-enable: no
include: "${environment.lists.file('unbound')}"
`;
}
