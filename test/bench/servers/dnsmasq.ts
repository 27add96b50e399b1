// dnsmasq: the list as `local=/name/` lines, which block all types of a name and its subdomains. The alternative, an
// additional hosts file, was two to four times slower with real names and two lines (A, AAAA) for each name.
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import type { BenchServer, ServerEnvironment } from './peer-server.ts';

export const dnsmasq: BenchServer = {
  name: 'dnsmasq',
  filters: true,
  logsQueries: true,
  installed: () => {
    const binary = locate('dnsmasq');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['-v']) };
  },
  prepare: (environment, binary) => {
    const file = join(environment.dir, 'dnsmasq.conf');
    writeFileSync(file, configuration(environment));
    return { command: binary, args: ['--keep-in-foreground', `--conf-file=${file}`] };
  },
};

function configuration(environment: ServerEnvironment): string {
  return `port=${environment.port}
listen-address=127.0.0.1
bind-interfaces
user=${userInfo().username}
pid-file=${join(environment.dir, 'dnsmasq.pid')}
log-facility=${join(environment.dir, 'query.log')}
${environment.queryLog ? 'log-queries' : ''}
no-resolv
no-hosts
server=127.0.0.1#${environment.upstreamPort}
conf-file=${environment.lists.file('dnsmasq')}
cache-size=${environment.cacheEntries}
cache-rr=ANY
dns-forward-max=4096
`;
}
