/** Sample configurations of blocky, and blocky's answers. */
import type { ExpectedStatus } from '../parts/import-suite.ts';
import { zipOf } from '../parts/made-archives.ts';

export const ADS_URL = 'https://lists.example.org/blocky-ads.txt';
export const LIST_TEXTS = { [ADS_URL]: 'ads.example\nshop.ads.example\n*.track.example\n' };

/** A folder of version 0.34; its files are read in the order of their paths. */
export function folder(): Buffer {
  return zipOf({
    'blocky/1-main.yml': `
upstreams:
  groups:
    default: [5.5.5.5]
    192.0.2.9: [192.0.2.53]
  strategy: strict
  timeout: 2s
bootstrapDns:
  - upstream: tcp+udp:192.0.2.53
  - upstream: https://dns.example.org/dns-query
    ips: [192.0.2.9]
blocking:
  denylists:
    ads:
      - ${ADS_URL}
      - |
        # own names
        inline.example
        *.wide.example
        /^banner[0-9]+\\./
    kids: [lists/kids.txt, /etc/gone.txt]
    unused: [https://lists.example.org/unused.txt]
  allowlists:
    ads: ["shop.ads.example\\n"]
    only: ["school.example\\n*.school.example\\n"]
  clientGroupsBlock:
    default: [ads]
    tablet*: [kids]
    "192.0.2.64/26": [ads]
    192.0.2.70,192.0.2.71: [kids]
    exam[0-9]: [only]
    192.0.2.20: []
    laptop.lan: [kids]
  schedules: {evening: {days: [mon], start: "18:00", end: "20:00"}}
  blockType: nxDomain
  blockTTL: 1m
  loading: {refreshPeriod: 4h}
clientLookup:
  clients:
    tablet-a: [192.0.2.10]
    exam1: [192.0.2.30]
`,
    'blocky/2-names.yaml': `
upstreams:
  groups:
    default:
      - tcp+udp:192.0.2.53:5353
      - tcp-tls:192.0.2.9:853#dns.example.org
      - https://dns.example.org/dns-query
      - quic:dns.example.net
      - "sdns://AgAAAAAAAAAACTE5Mi4wLjIuMQAPZG5zLmV4YW1wbGUub3JnCi9kbnMtcXVlcnk"
customDNS:
  customTTL: 5m
  mapping:
    nas.lan: 192.0.2.5,2001:db8::5
  zone: |
    $ORIGIN example.lan.
    $TTL 60
    www 3600 IN A 192.0.2.80
    @ IN TXT "hello; world"
    files IN CNAME nas.lan.
    $GENERATE 1-3 host$ A 192.0.2.$
    $INCLUDE more.zone
    odd IN NAPTR 1 2 3
  rewrite: {home: lan}
conditional:
  mapping:
    fritz.box: 192.0.2.1,192.0.2.2
    2.0.192.in-addr.arpa: 192.0.2.1
    .: 192.0.2.1
hostsFile:
  sources:
    - |
      192.0.2.6 printer.lan
      0.0.0.0 hosts.example
caching: {minTime: 5, maxTime: 30m}
prometheus: {enable: true}
ports: {dns: 53}
queryLog: {type: postgresql, target: "postgres://weir:hunter2@db.example/log", logRetentionDays: 7}
`,
    'blocky/lists/kids.txt': 'games.example\n',
    'blocky/more.zone': 'mail IN A 192.0.2.25\n',
  });
}

export const ANSWERS: readonly ExpectedStatus[] = [
  ['192.0.2.200', 'ads.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'www.ads.example', 1, 'FORWARDED'],
  ['192.0.2.200', 'shop.ads.example', 1, 'FORWARDED'],
  ['192.0.2.200', 'a.track.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'track.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'inline.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'a.wide.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'banner7.example.com', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'games.example', 1, 'FORWARDED'],
  // The pattern for the name replaces the default groups.
  ['192.0.2.10', 'games.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.10', 'ads.example', 1, 'FORWARDED'],
  // The address and its network both match.
  ['192.0.2.70', 'games.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.70', 'ads.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.71', 'games.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.65', 'games.example', 1, 'FORWARDED'],
  ['192.0.2.65', 'ads.example', 1, 'BLOCKED_LIST'],
  // A key without groups removes the default groups.
  ['192.0.2.20', 'ads.example', 1, 'BLOCKED_LIST'],
  // A client with only allowlists: all other names are blocked.
  ['192.0.2.30', 'school.example', 1, 'FORWARDED'],
  ['192.0.2.30', 'www.school.example', 1, 'FORWARDED'],
  ['192.0.2.30', 'other.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'nas.lan', 1, 'LOCAL'],
  ['192.0.2.200', 'deep.nas.lan', 28, 'LOCAL'],
  ['192.0.2.200', 'host2.example.lan', 1, 'LOCAL'],
  ['192.0.2.200', 'mail.example.lan', 1, 'LOCAL'],
  ['192.0.2.200', 'example.lan', 16, 'LOCAL'],
  ['192.0.2.200', 'printer.lan', 1, 'LOCAL'],
  ['192.0.2.200', 'hosts.example', 1, 'LOCAL'],
];

/** Keys of version 0.21, with durations without a unit. */
export const OLD_KEYS = `
upstream:
  default: [tcp+udp:192.0.2.53]
bootstrapDns: tcp+udp:192.0.2.9
blocking:
  blackLists:
    ads: ["denied.example\\n"]
  whiteLists:
    ads: ["fine.example\\n"]
  clientGroupsBlock:
    default: [ads]
  blockType: 192.0.2.80, 2001:db8::80
  blockTTL: 1
  refreshPeriod: 120
hostsFile:
  filePath: /etc/hosts
`;

/** Names of the items without an equivalent, in the order of the report. */
export const NOT_MAPPED = [
  'laptop.lan',
  '/etc/gone.txt',
  'odd.example.lan NAPTR 1 2 3',
  '.',
  'upstream quic:dns.example.net',
  'upstreams.groups 192.0.2.9',
  'bootstrapDns https://dns.example.org/dns-query',
];
