// dnsmasq: the list as an additional hosts file, its exact and fastest form (`address=/name/` covers subdomains and
// costs it three times as much). A hosts file blocks A and AAAA only.
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import type { BenchServer, Room } from './server.ts';

export const dnsmasq: BenchServer = {
  name: 'dnsmasq',
  filters: true,
  logsQueries: true,
  installed: () => {
    const binary = locate('dnsmasq');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['-v']) };
  },
  prepare: (room, binary) => {
    const file = join(room.dir, 'dnsmasq.conf');
    writeFileSync(file, configuration(room));
    return { command: binary, args: ['--keep-in-foreground', `--conf-file=${file}`] };
  },
};

function configuration(room: Room): string {
  return `port=${room.port}
listen-address=127.0.0.1
bind-interfaces
user=${userInfo().username}
pid-file=${join(room.dir, 'dnsmasq.pid')}
log-facility=${join(room.dir, 'query.log')}
${room.queryLog ? 'log-queries' : ''}
no-resolv
no-hosts
server=127.0.0.1#${room.upstreamPort}
addn-hosts=${room.lists.file('hosts')}
cache-size=${room.cacheEntries}
cache-rr=ANY
dns-forward-max=4096
`;
}
