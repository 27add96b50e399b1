// BIND 9: the list as a response policy zone; forwards only.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import type { BenchServer, ServerEnvironment } from './peer-server.ts';

export const bind9: BenchServer = {
  name: 'bind9',
  filters: true,
  logsQueries: true,
  installed: () => {
    const binary = locate('named');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['-v']) };
  },
  prepare: (environment, binary) => {
    const file = join(environment.dir, 'named.conf');
    writeFileSync(file, configuration(environment));
    return { command: binary, args: ['-f', '-n', '1', '-c', file] };
  },
};

function configuration(environment: ServerEnvironment): string {
  return `options {
  directory "${environment.dir}";
  pid-file none;
  session-keyfile "${join(environment.dir, 'session.key')}";
  managed-keys-directory "${environment.dir}";
  listen-on port ${environment.port} { 127.0.0.1; };
  listen-on-v6 { none; };
  allow-query { 127.0.0.0/8; };
  recursion yes;
  recursive-clients 10000;
  forward only;
  forwarders { 127.0.0.1 port ${environment.upstreamPort}; };
  dnssec-validation no;
  empty-zones-enable no;
  minimal-responses yes;
  max-cache-size 512m;
  querylog ${environment.queryLog ? 'yes' : 'no'};
  response-policy { zone "rpz" add-soa no; } break-dnssec yes qname-wait-recurse no;
};
logging {
  channel out { file "${join(environment.dir, 'query.log')}"; print-time yes; };
  category default { out; };
};
controls { };
zone "rpz" { type primary; file "${environment.lists.file('rpz')}"; allow-query { none; }; };
`;
}
