// BIND 9: the list as a response policy zone; forwards only.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locate, versionOf } from '../process/locate.ts';
import type { BenchServer, Room } from './peer-server.ts';

export const bind9: BenchServer = {
  name: 'bind9',
  filters: true,
  logsQueries: true,
  installed: () => {
    const binary = locate('named');
    return binary === undefined ? undefined : { binary, version: versionOf(binary, ['-v']) };
  },
  prepare: (room, binary) => {
    const file = join(room.dir, 'named.conf');
    writeFileSync(file, configuration(room));
    return { command: binary, args: ['-f', '-n', '1', '-c', file] };
  },
};

function configuration(room: Room): string {
  return `options {
  directory "${room.dir}";
  pid-file none;
  session-keyfile "${join(room.dir, 'session.key')}";
  managed-keys-directory "${room.dir}";
  listen-on port ${room.port} { 127.0.0.1; };
  listen-on-v6 { none; };
  allow-query { 127.0.0.0/8; };
  recursion yes;
  recursive-clients 10000;
  forward only;
  forwarders { 127.0.0.1 port ${room.upstreamPort}; };
  dnssec-validation no;
  empty-zones-enable no;
  minimal-responses yes;
  max-cache-size 512m;
  querylog ${room.queryLog ? 'yes' : 'no'};
  response-policy { zone "rpz" add-soa no; } break-dnssec yes qname-wait-recurse no;
};
logging {
  channel out { file "${join(room.dir, 'query.log')}"; print-time yes; };
  category default { out; };
};
controls { };
zone "rpz" { type primary; file "${room.lists.file('rpz')}"; allow-query { none; }; };
`;
}
