/** Sample backups of Technitium DNS Server, and the answers of those servers. */
import type { ExpectedStatus } from '../parts/import-suite.ts';
import { type MadeFiles, zipOf } from '../parts/made-archives.ts';

export const ADS_URL = 'https://lists.example.org/technitium-ads.txt';
export const KIDS_URL = 'https://lists.example.org/technitium-kids.txt';
export const FINE_URL = 'https://lists.example.org/technitium-fine.txt';
export const LIST_TEXTS = {
  [ADS_URL]: 'ads.example\n0.0.0.0 hosts.example\n',
  [KIDS_URL]: 'games.example\n',
  [FINE_URL]: 'shop.ads.example\n',
};

const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([Buffer.byteLength(value)]), Buffer.from(value)]);
const integer = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};

/** `allowed.config` (AZ) or `blocked.config` (BZ); `count` may be wrong. */
export function namesFile(
  magic: 'AZ' | 'BZ',
  names: readonly string[],
  count = names.length,
  version = 1,
): Buffer {
  return Buffer.concat([Buffer.from(magic), Buffer.from([version]), integer(count), ...names.map(text)]);
}

function listsFile(urls: readonly string[]): Buffer {
  return Buffer.concat([Buffer.from('BL\u0001'), Buffer.from([urls.length]), ...urls.map(text), integer(12)]);
}

const ADVANCED = JSON.stringify({
  enableBlocking: true,
  blockListUrlUpdateIntervalHours: 24,
  localEndPointGroupMap: { '127.0.0.1': 'kids' },
  networkGroupMap: {
    '192.0.2.10': 'kids',
    '192.0.2.64/26': 'open',
    '0.0.0.0/0': 'everyone',
    '[::]/0': 'everyone',
  },
  groups: [
    {
      name: 'everyone',
      enableBlocking: true,
      blockAsNxDomain: true,
      blockingAddresses: ['0.0.0.0'],
      allowed: ['fine.example'],
      blocked: ['app.example'],
      blockListUrls: [],
      allowedRegex: [],
      blockedRegex: ['^banner[0-9]+\\.'],
    },
    {
      name: 'kids',
      enableBlocking: true,
      blocked: ['chat.example'],
      blockListUrls: [KIDS_URL, { url: 'https://lists.example.org/adult.txt', blockAsNxDomain: false }],
      allowedRegex: ['^school\\.'],
    },
    { name: 'open', enableBlocking: false, blocked: ['never.example'] },
  ],
});

const SETTINGS = JSON.stringify({
  response: {
    version: '15.2',
    forwarders: ['dns.example.org:853 (192.0.2.9)', '192.0.2.53'],
    forwarderProtocol: 'Tls',
    enableBlocking: true,
    blockingType: 'CustomAddress',
    customBlockingAddresses: ['192.0.2.80', '2001:db8::80'],
    dnssecValidation: true,
    serveStale: true,
    serveStaleTtl: 259200,
    saveCache: false,
    qpmLimitRequests: 600,
    eDnsClientSubnet: false,
    aNewSetting: 'hunter2',
    blockingBypassList: ['192.0.2.7'],
    proxy: { username: 'me', password: 'hunter2' },
    tsigKeys: [{ keyName: 'k', sharedSecret: 'c2VjcmV0' }],
  },
  status: 'ok',
});

const COMMON: MadeFiles = {
  'allowed.config': namesFile('AZ', ['shop.ads.example']),
  'blocked.config': namesFile('BZ', ['denied.example', 'b\u00fccher.example']),
  'zones/localhost.zone': Buffer.from('DZ\u0004\u0000binary'),
  'zones/home.example.zone': Buffer.from('DZ\u0004\u0000binary'),
};

/** An export of version 15, including settings that users have added. */
export function version15(): Buffer {
  return zipOf({
    ...COMMON,
    'dns.config': Buffer.from('DC\u0003\u0000\u0001secret'),
    'settings.json': SETTINGS,
    'blocklist.config': listsFile([ADS_URL, `!${FINE_URL}`, '#https://lists.example.org/off.txt']),
    'zones/lan.example.txt': `@ 900 IN SOA ns.lan.example. admin.lan.example. 1 900 300 604800 900
@ 3600 IN NS ns.lan.example.
nas 3600 IN A 192.0.2.5
files IN CNAME nas
@ 0 IN FWD Udp 192.0.2.1 False
sub 0 IN FWD Tcp 192.0.2.2
own 0 IN APP "Split Horizon" "x"
`,
    'apps/Advanced Blocking/dnsApp.config': ADVANCED,
    'apps/Geo Country/dnsApp.config': '{}',
  });
}

/** An export of version 13, which stores all settings in one binary file. */
export function version13(): Buffer {
  return zipOf({
    ...COMMON,
    'allowed.config': namesFile('AZ', []),
    'dns.config': Buffer.from('DS\u002a\u0000'),
  });
}

export const ANSWERS: readonly ExpectedStatus[] = [
  ['192.0.2.200', 'ads.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'deep.ads.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'www.hosts.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.200', 'shop.ads.example', 1, 'FORWARDED'],
  ['192.0.2.200', 'deep.shop.ads.example', 1, 'FORWARDED'],
  ['192.0.2.200', 'www.denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'xn--bcher-kva.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'app.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'banner1.example.com', 1, 'BLOCKED_REGEX'],
  ['192.0.2.200', 'games.example', 1, 'FORWARDED'],
  ['192.0.2.10', 'games.example', 1, 'BLOCKED_LIST'],
  ['192.0.2.10', 'www.chat.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.10', 'app.example', 1, 'FORWARDED'],
  ['192.0.2.10', 'denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.65', 'never.example', 1, 'FORWARDED'],
  ['192.0.2.65', 'denied.example', 1, 'BLOCKED_MANAGED'],
  ['192.0.2.200', 'nas.lan.example', 1, 'LOCAL'],
  ['192.0.2.200', 'files.lan.example', 1, 'LOCAL'],
  // The forwarder of this zone resolves names that the zone does not contain.
  ['192.0.2.200', 'other.lan.example', 1, 'FORWARDED'],
];

/** Names of the items without an equivalent, in the order of the report. */
export const NOT_MAPPED = [
  'everyone: answers to blocked queries',
  'kids: allowed regular expressions and blocked names',
  '127.0.0.1',
  'zone home.example',
  'own.lan.example APP "Split Horizon" "x"',
  'blockingBypassList 192.0.2.7',
  'qpmLimitRequests',
  'aNewSetting',
  'app Geo Country',
];
