// dnsdist: a filtering cache in front of the upstream, with the list as a set of exact names.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import { type BenchServer, type ServerEnvironment, UPSTREAM_NAME } from './peer-server.ts';

export const dnsdist: BenchServer = {
  name: 'dnsdist',
  filters: true,
  logsQueries: false,
  asksOverTls: true,
  installed: () => {
    const binary = locate('dnsdist');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['--version']) };
  },
  prepare: (environment, binary) => {
    const file = join(environment.dir, 'dnsdist.conf');
    writeFileSync(file, configuration(environment));
    return { command: binary, args: ['--supervised', '--disable-syslog', '-C', file] };
  },
};

function overTls({ upstreamCa }: ServerEnvironment): string {
  return upstreamCa === undefined
    ? ''
    : `, tls="openssl", caStore="${upstreamCa}", subjectName="${UPSTREAM_NAME}"`;
}

function configuration(environment: ServerEnvironment): string {
  return `setLocal("127.0.0.1:${environment.port}")
setACL({"127.0.0.0/8"})
setSecurityPollSuffix("")
setMaxUDPOutstanding(65535)
newServer({address="127.0.0.1:${environment.upstreamPort}"${overTls(environment)}}):setUp()
getPool(""):setCache(newPacketCache(${environment.cacheEntries * 2}, {maxTTL=86400}))
local blocked = newDNSNameSet()
for name in io.lines("${environment.lists.file('plain')}") do blocked:add(newDNSName(name)) end
addAction(QNameSetRule(blocked), RCodeAction(DNSRCode.NXDOMAIN))
`;
}
