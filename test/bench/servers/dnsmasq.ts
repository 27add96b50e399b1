// dnsmasq: the list as `local=/name/` lines, which block all types of a name and its subdomains. The alternative, an
// additional hosts file, was two to four times slower with real names and two lines (A, AAAA) for each.
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import type { BenchServer, Room } from './peer-server.ts';

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
conf-file=${room.lists.file('dnsmasq')}
cache-size=${room.cacheEntries}
cache-rr=ANY
dns-forward-max=4096
`;
}
