// PowerDNS Recursor: the list as a response policy zone, with its packet cache enabled.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import type { BenchServer, Room } from './peer-server.ts';

export const pdnsRecursor: BenchServer = {
  name: 'pdns-recursor',
  filters: true,
  logsQueries: true,
  installed: () => {
    const binary = locate('pdns_recursor');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['--version']) };
  },
  prepare: (room, binary) => {
    writeFileSync(join(room.dir, 'recursor.conf'), configuration(room));
    writeFileSync(
      join(room.dir, 'policy.lua'),
      `rpzFile("${room.lists.file('rpz')}", {policyName="bench"})\n`,
    );
    return { command: binary, args: [`--config-dir=${room.dir}`] };
  },
};

function configuration(room: Room): string {
  return `local-address=127.0.0.1
local-port=${room.port}
socket-dir=${room.dir}
daemon=no
write-pid=no
disable-syslog=yes
quiet=${room.queryLog ? 'no' : 'yes'}
loglevel=${room.queryLog ? 6 : 3}
threads=1
pdns-distributes-queries=no
reuseport=yes
dnssec=off
security-poll-suffix=
dont-query=
forward-zones-recurse=.=127.0.0.1:${room.upstreamPort}
lua-config-file=${join(room.dir, 'policy.lua')}
max-cache-entries=${room.cacheEntries * 4}
max-packetcache-entries=${room.cacheEntries * 2}
max-mthreads=4096
`;
}
