/** Files of sample AdGuard Home servers with several schema versions, and the answers of those servers. */
import { gzipSync } from 'node:zlib';
import { tarOf, zipOf } from '../parts/made-archives.ts';

export const ADS_URL = 'https://lists.example.org/agh-ads.txt';
export const FINE_URL = 'https://lists.example.org/agh-fine.txt';
export const LIST_TEXTS = {
  [ADS_URL]: '||ads.example^\n||shop.ads.example^\n||tracker.example^$important\n',
  [FINE_URL]: '||shop.ads.example^\n',
};

/** File of version 0.107.79, in the order in which AdGuard Home writes it. */
const SCHEMA_34 = `
http:
  pprof: {port: 6060, enabled: false}
  address: 0.0.0.0:80
users:
  - name: admin
    password: $2y$10$hunter2hunter2hunter2hunter2
auth_attempts: 5
language: en
dns:
  bind_hosts: [0.0.0.0]
  port: 53
  upstream_dns:
    - '# the router'
    - https://dns.example.org/dns-query
    - h3://dns.example.net/dns-query
    - quic://dns.example.com
    - '[/lan/home.example/]192.0.2.1 192.0.2.2:5353'
    - '[/*.sub.example/]192.0.2.3'
    - '[//]192.0.2.1'
    - '[/public.home.example/]#'
    - 192.0.2.53
  upstream_dns_file: ""
  bootstrap_dns: [192.0.2.53, '[2001:db8::53]:53', 'https://192.0.2.9/dns-query']
  fallback_dns: [tls://dns.example.org]
  upstream_mode: parallel
  local_ptr_upstreams: [192.0.2.1]
  use_private_ptr_resolvers: true
  ratelimit: 20
  ratelimit_subnet_len_ipv4: 24
  ratelimit_subnet_len_ipv6: 56
  ratelimit_whitelist: [192.0.2.7]
  cache_size: 4194304
  cache_ttl_min: 0
  cache_ttl_max: 3600
  cache_enabled: true
  enable_dnssec: true
  aaaa_disabled: false
  bogus_nxdomain: []
  allowed_clients: []
  disallowed_clients: [192.0.2.66]
  blocked_hosts: [version.bind, '||internal.example^']
  private_networks: []
filtering:
  blocking_mode: default
  blocked_response_ttl: 10
  filters_update_interval: 24
  protection_enabled: true
  filtering_enabled: true
  rewrites_enabled: true
  parental_enabled: false
  safebrowsing_enabled: true
  rewrites:
    - {domain: nas.lan, answer: 192.0.2.5, enabled: true}
    - {domain: nas.lan, answer: 2001:db8::5, enabled: true}
    - {domain: '*.apps.lan', answer: 192.0.2.6, enabled: true}
    - {domain: files.lan, answer: nas.lan}
    - {domain: v4.apps.lan, answer: A, enabled: true}
    - {domain: self.apps.lan, answer: self.apps.lan, enabled: true}
    - {domain: old.lan, answer: 192.0.2.8, enabled: false}
  blocked_services:
    schedule:
      time_zone: Europe/Berlin
      sun: {start: 8h, end: 10h}
    ids: [youtube, gone_service]
  safe_search: {enabled: true, bing: true, duckduckgo: false, ecosia: true, google: true, pixabay: false, yandex: false, youtube: true}
filters:
  - {enabled: true, url: ${ADS_URL}, name: Ads, id: 1}
  - {enabled: false, url: https://lists.example.org/off.txt, name: '', id: 2}
  - {enabled: true, url: /opt/own.txt, name: Own file, id: 3}
  - {enabled: true, url: /opt/gone.txt, name: Gone, id: 4}
whitelist_filters:
  - {enabled: true, url: ${FINE_URL}, name: Fine, id: 5}
user_rules:
  - '! a comment'
  - '# another'
  - '||denied.example^'
  - '@@||good.denied.example^'
  - plain.example
  - 0.0.0.0 hosts.example
  - 192.0.2.77 printer.lan
  - '/^banner[0-9]+\\./'
  - '||v6.example^$dnstype=AAAA'
  - '||code.example^$dnsrewrite=NXDOMAIN'
  - '||to.example^$dnsrewrite=192.0.2.99'
  - '||kids.example^$client=Tablet'
  - '||cloud.example^$client=Phone'
  - '||tagged.example^$ctag=device_tv'
  - '/(?=x)y/'
  - ''
dhcp:
  enabled: true
  local_domain_name: lan
clients:
  runtime_sources: {whois: true, arp: true, rdns: true, dhcp: true, hosts: true}
  persistent:
    - name: Tablet
      ids: [192.0.2.10, 192.0.2.64/26]
      use_global_settings: true
      use_global_blocked_services: false
      blocked_services: {schedule: {time_zone: UTC}, ids: [tiktok]}
    - name: Server
      ids: ['02:00:5e:00:00:01', 192.0.2.20]
      tags: [device_pc]
      upstreams: ['192.0.2.54']
      use_global_settings: false
      filtering_enabled: false
      safe_search: {enabled: false}
      use_global_blocked_services: false
      blocked_services: {ids: []}
    - name: Phone
      ids: [my-phone]
      use_global_settings: true
      use_global_blocked_services: true
    - name: Desk
      ids: ['02:00:5e:00:00:02']
      use_global_settings: true
      use_global_blocked_services: true
tls:
  enabled: true
  private_key: |
    -----BEGIN PRIVATE KEY-----
    hunter2
querylog: {enabled: true, interval: 2160h}
schema_version: 34
`;

const LEASES = JSON.stringify({
  version: 1,
  leases: [
    { mac: '02:00:5e:00:00:02', ip: '192.0.2.70', hostname: 'desk', static: true, expires: '' },
    { mac: '02:00:5e:00:00:09', ip: '192.0.2.90', hostname: 'printer', static: false, expires: '' },
  ],
});

/** The folder of the newest version, as users archive it. */
export function schema34(): Buffer {
  return zipOf({
    'AdGuardHome/AdGuardHome.yaml': SCHEMA_34,
    'AdGuardHome/data/leases.json': LEASES,
    'AdGuardHome/data/filters/3.txt': '||own.example^\n',
  });
}

/** Client, name, type, and the status of AdGuard Home's answer in Weir's terms; FORWARDED = sent to upstreams. */
export const ANSWERS_34: readonly (readonly [client: string, name: string, qtype: number, status: string])[] =
  [
    ['192.0.2.200', 'ads.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'a.b.ads.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'shop.ads.example', 1, 'FORWARDED'],
    ['192.0.2.200', 'tracker.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'own.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'denied.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'www.denied.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'good.denied.example', 1, 'FORWARDED'],
    ['192.0.2.200', 'www.good.denied.example', 1, 'FORWARDED'],
    ['192.0.2.200', 'plain.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'www.plain.example', 1, 'FORWARDED'],
    ['192.0.2.200', 'hosts.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'printer.lan', 1, 'LOCAL'],
    ['192.0.2.200', 'banner12.example.com', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'banner.example.com', 1, 'FORWARDED'],
    ['192.0.2.200', 'v6.example', 28, 'BLOCKED_LIST'],
    ['192.0.2.200', 'v6.example', 1, 'FORWARDED'],
    ['192.0.2.200', 'code.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.200', 'to.example', 1, 'LOCAL'],
    ['192.0.2.200', 'kids.example', 1, 'FORWARDED'],
    ['192.0.2.10', 'kids.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.65', 'kids.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.65', 'ads.example', 1, 'BLOCKED_LIST'],
    ['192.0.2.20', 'ads.example', 1, 'FORWARDED'],
    ['192.0.2.20', 'denied.example', 1, 'FORWARDED'],
    ['192.0.2.20', 'nas.lan', 1, 'LOCAL'],
    ['192.0.2.200', 'nas.lan', 28, 'LOCAL'],
    ['192.0.2.200', 'x.apps.lan', 1, 'LOCAL'],
    ['192.0.2.200', 'apps.lan', 1, 'FORWARDED'],
    ['192.0.2.200', 'files.lan', 1, 'LOCAL'],
    ['192.0.2.200', 'old.lan', 1, 'FORWARDED'],
    ['192.0.2.200', 'www.internal.example', 1, 'BLOCKED_MANAGED'],
  ];

/** Names of the items without an equivalent, in the order of the report. */
export const NOT_MAPPED_34 = [
  'Server',
  'gone_service',
  '/opt/gone.txt',
  '||tagged.example^$ctag=device_tv',
  '/(?=x)y/',
  '[//]',
  'upstream quic://dns.example.com',
  'dns.bootstrap_dns https://192.0.2.9/dns-query',
  'dns.allowed_clients',
  'printer.lan 192.0.2.90 (lease)',
  'safe browsing',
  'DHCP server',
  'encrypted DNS and HTTPS',
  'users',
];

/** Names of the imported items for which Weir answers differently, in the order of the report. */
export const DIFFERS_34 = [
  'Desk',
  'v4.apps.lan A',
  'self.apps.lan self.apps.lan',
  'local records for Server',
  '[/*.sub.example/]',
  'upstream h3://dns.example.net/dns-query',
  'names of addresses in rewrites',
  'exceptions from blocked services',
  'names of hosts lines',
  'aliases of rewrites',
  'answers of blocked services',
  'private addresses in answers',
  'iCloud Private Relay',
];

export const PAUSED = `
schema_version: 34
filtering: {protection_enabled: false, protection_disabled_until: 2999-01-01T00:00:00Z}
`;

/** A configuration with scheduled services, refused hosts, and an allowlist that overrides `$important`. */
export const TIMED = `
schema_version: 34
dns: {blocked_hosts: ['*.accw.example', plain.example, '||tree.example^'], bogus_nxdomain: [192.0.2.250]}
dhcp: {enabled: false, local_domain_name: lan}
filtering:
  protection_enabled: true
  blocked_services:
    ids: [tiktok]
    schedule:
      time_zone: UTC
${['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'].map((day) => `      ${day}: {start: 0s, end: 24h}\n`).join('')}
whitelist_filters:
  - {enabled: true, url: ${FINE_URL}, name: Fine, id: 5}
user_rules: ['*.starmine.example', 'p5.example # why', '||shop.ads.example^$important', '||tagged.example^$ctag=device_tv']
clients:
  persistent:
    - name: Child
      ids: [192.0.2.10]
      tags: [device_tv]
      use_global_settings: true
      use_global_blocked_services: false
      blocked_services: {ids: [tiktok], schedule: {time_zone: UTC}}
`;

export const ANSWERS_TIMED: typeof ANSWERS_34 = [
  ['192.0.2.200', 'tiktok.com', 1, 'FORWARDED'],
  ['192.0.2.10', 'tiktok.com', 1, 'BLOCKED_SERVICE'],
  ['192.0.2.200', 'accw.example', 1, 'FORWARDED'],
  ['192.0.2.200', 'a.accw.example', 1, 'BLOCKED_REGEX'],
  ['192.0.2.200', 'plain.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'a.plain.example', 1, 'FORWARDED'],
  ['192.0.2.200', 'a.tree.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'starmine.example', 1, 'FORWARDED'],
  ['192.0.2.200', 'a.starmine.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'p5.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'shop.ads.example', 1, 'FORWARDED'],
  ['192.0.2.10', 'tagged.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'tagged.example', 1, 'FORWARDED'],
];

/** A configuration with rules that override each other: exceptions with a pattern, and priorities. */
export const TANGLED = `
schema_version: 28
dns:
  upstream_dns: [192.0.2.53]
  all_servers: false
  upstream_mode: fastest_addr
filtering: {filtering_enabled: true, protection_enabled: false, blocking_mode: custom_ip, blocking_ipv4: 192.0.2.80}
user_rules:
  - '||denied.example^'
  - '@@/^good\\./'
  - '||never.example^$important'
  - 0.0.0.0 good.hosts.example bad.hosts.example
  - '@@||never.example^'
  - '||back.example^'
  - '||back.example^$badfilter'
`;

/** Configuration of an older version, which has some settings in other sections. */
export const SCHEMA_12 = `
bind_host: 0.0.0.0
schema_version: 12
dns:
  upstream_dns: [192.0.2.53]
  all_servers: true
  local_domain_name: home.example
  filtering_enabled: true
  safesearch_enabled: true
  blocking_mode: nxdomain
  blocked_services: [tiktok]
  rewrites: [{domain: nas.lan, answer: 192.0.2.5}]
  querylog_interval: 90
  ratelimit: 0
user_rules: ['||denied.example^']
clients:
  - {name: Phone, ids: [192.0.2.31], use_global_settings: true, use_global_blocked_services: true}
`;

export const SCHEMA_20 = `
schema_version: 20
dns:
  upstream_dns: [192.0.2.53]
  blocked_services: [tiktok]
  safe_search: {enabled: true, google: true}
clients:
  persistent:
    - {name: Phone, ids: [192.0.2.31], use_global_settings: false, filtering_enabled: true, safe_search: {enabled: true, bing: true}, use_global_blocked_services: true}
`;

/** The folder with this configuration, as a tar. */
export function schema12(): Buffer {
  return gzipSync(tarOf({ 'conf/AdGuardHome.yaml': SCHEMA_12 }));
}
