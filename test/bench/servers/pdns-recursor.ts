// PowerDNS Recursor: the list as a response policy zone, with its packet cache enabled.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import type { BenchServer, ServerEnvironment } from './peer-server.ts';

export const pdnsRecursor: BenchServer = {
  name: 'pdns-recursor',
  filters: true,
  logsQueries: true,
  installed: () => {
    const binary = locate('pdns_recursor');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['--version']) };
  },
  prepare: (environment, binary) => {
    writeFileSync(join(environment.dir, 'recursor.conf'), configuration(environment));
    writeFileSync(
      join(environment.dir, 'policy.lua'),
      `rpzFile("${environment.lists.file('rpz')}", {policyName="bench"})\n`,
    );
    return { command: binary, args: [`--config-dir=${environment.dir}`] };
  },
};

function configuration(environment: ServerEnvironment): string {
  return `local-address=127.0.0.1
local-port=${environment.port}
socket-dir=${environment.dir}
daemon=no
write-pid=no
disable-syslog=yes
quiet=${environment.queryLog ? 'no' : 'yes'}
loglevel=${environment.queryLog ? 6 : 3}
threads=1
pdns-distributes-queries=no
reuseport=yes
dnssec=off
security-poll-suffix=
dont-query=
forward-zones-recurse=.=127.0.0.1:${environment.upstreamPort}
lua-config-file=${join(environment.dir, 'policy.lua')}
max-cache-entries=${environment.cacheEntries * 4}
max-packetcache-entries=${environment.cacheEntries * 2}
max-mthreads=4096
`;
}
