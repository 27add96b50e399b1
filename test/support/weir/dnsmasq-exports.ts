/** Sample configurations of dnsmasq, hosts files, and dnsmasq's answers. */
import type { ExpectedStatus } from '../parts/import-suite.ts';
import { tarOf } from '../parts/made-archives.ts';

/** A folder whose files include each other in a loop. */
export function folder(): Buffer {
  return tarOf({
    'etc/dnsmasq.conf': `# main
domain-needed
bogus-priv
strict-order
domain=lan
expand-hosts
local=/lan/
server=192.0.2.53
server=192.0.2.54#5353@eth0
server=/corp.example/intern.example/192.0.2.1
server=/usual.corp.example/#
rev-server=198.51.96.0/20,192.0.2.1
address=/denied.example/
address=/null.example/0.0.0.0
address=/hash.example/#
address=/app.example/192.0.2.80
address=/app.example/2001:db8::80
host-record=nas.lan,nas,192.0.2.5,2001:db8::5,600
cname=files.lan,nas.lan
txt-record=nas.lan,"v=1"
srv-host=_sip._udp.lan,nas.lan,5060
addn-hosts=/etc/hosts.more
addn-hosts=/etc/hosts.gone
bogus-nxdomain=203.0.113.1
dhcp-range=192.0.2.100,192.0.2.200,12h
dhcp-host=02:00:5e:00:00:03,192.0.2.70,tv
cache-size=1000
min-cache-ttl=60
alias=192.0.2.0,198.51.100.0
not an option
conf-dir=/etc/dnsmasq.d/,*.conf
`,
    'etc/dnsmasq.d/loop.conf':
      'conf-file=/etc/dnsmasq.conf\nconf-file=/etc/dnsmasq.d/loop.conf\naddress=/looped.example/#\n',
    'etc/hosts': '127.0.0.1 localhost\n192.0.2.7 router\n',
    'etc/hosts.more': '192.0.2.6 printer # on the desk\n0.0.0.0 hosts.example\n',
  });
}

export const ANSWERS: readonly ExpectedStatus[] = [
  ['192.0.2.200', 'denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'www.denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'null.example', 28, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'hash.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'looped.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'app.example', 1, 'LOCAL'],
  ['192.0.2.200', 'deep.app.example', 28, 'LOCAL'],
  ['192.0.2.200', 'nas', 1, 'LOCAL'],
  ['192.0.2.200', 'nas.lan', 28, 'LOCAL'],
  ['192.0.2.200', 'nas.lan', 16, 'LOCAL'],
  ['192.0.2.200', 'files.lan', 1, 'LOCAL'],
  ['192.0.2.200', '_sip._udp.lan', 33, 'LOCAL'],
  ['192.0.2.200', 'printer.lan', 1, 'LOCAL'],
  ['192.0.2.200', 'printer', 1, 'LOCAL'],
  ['192.0.2.200', 'router.lan', 1, 'LOCAL'],
  ['192.0.2.200', 'hosts.example', 1, 'BLOCKED_MANAGED'],
  // An unknown name in the local domain: NXDOMAIN, never forwarded.
  ['192.0.2.200', 'unknown.lan', 1, 'LOCAL'],
  ['192.0.2.200', 'else.example', 1, 'FORWARDED'],
];

/** Too many names for individual managed domains. */
export const MANY_NAMES = Array.from({ length: 2500 }, (_, n) => `address=/ads${n}.example/#`).join('\n');

/** A hosts file that names and blocks hosts. */
export const HOSTS = `127.0.0.1 localhost
::1 ip6-localhost
192.0.2.5 nas.lan nas
0.0.0.0 ads.example # blocked
`;

/** Names of the items without an equivalent, in the order of the report. */
export const NOT_MAPPED = [
  '/etc/resolv.conf',
  'addn-hosts=/etc/hosts.gone',
  '1 line',
  'dhcp-range',
  'alias=192.0.2.0,198.51.100.0',
];
