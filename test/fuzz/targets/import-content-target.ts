/** The files inside an export, as its reader finds them, with any content. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileSet } from '../../../control-plane/transfer/importers/files/file-set.ts';
import { ImportFault } from '../../../control-plane/transfer/importers/files/import-fault.ts';
import { mapPihole } from '../../../control-plane/transfer/importers/pihole/map-pihole.ts';
import { readPihole } from '../../../control-plane/transfer/importers/pihole/read-pihole.ts';
import { mapTechnitium } from '../../../control-plane/transfer/importers/technitium/map-technitium.ts';
import { readTechnitium } from '../../../control-plane/transfer/importers/technitium/read-technitium.ts';
import { sqliteOf } from '../../support/parts/made-archives.ts';
import { namesFile } from '../../support/weir/technitium-exports.ts';
import { octets } from '../../support/dns/built-messages.ts';
import { InputReader, octetsOf } from '../target.ts';
import type { Target } from '../target.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-fuzz-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Files that get the input as content, and the program to which each belongs. */
const PLACES = [
  ['pihole.toml', pihole],
  ['setupVars.conf', pihole],
  ['adlist.json', pihole],
  ['custom.list', pihole],
  ['gravity.db', pihole],
  ['blocked.config', technitium],
  ['blocklist.config', technitium],
  ['settings.json', technitium],
  ['zones/example.org.txt', technitium],
  ['apps/Advanced Blocking/dnsApp.config', technitium],
] as const;

function pihole(files: FileSet): void {
  const work = join(folder, 'work');
  mkdirSync(work);
  try {
    mapPihole(readPihole(files, work));
  } finally {
    rmSync(work, { recursive: true });
  }
}

function technitium(files: FileSet): void {
  mapTechnitium(readTechnitium(files));
}

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  const [path, read] = reader.of(PLACES);
  try {
    read(new Map([[path, Buffer.from(reader.rest())]]));
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error;
  }
}

function of(path: (typeof PLACES)[number][0], content: Uint8Array | string): Uint8Array {
  const place = PLACES.findIndex(([known]) => known === path);
  return octets([place], typeof content === 'string' ? octetsOf(content) : content);
}

const TOML = `[dns]
upstreams = ["192.0.2.1#5353", "tls://dns.example"]
hosts = ["192.0.2.5 nas.home.arpa nas"]
cnameRecords = ["a.test,b.test,60"]
revServers = ["true,192.0.2.0/24,192.0.2.1,lan"]
[dhcp]
hosts = ["02:00:5e:00:00:01,192.0.2.9,pc,1d"]
[misc]
dnsmasq_lines = ["address=/ads.example/"]
`;
const ZONE =
  '$ORIGIN example.org.\n$TTL 1h\n@ IN SOA ns hostmaster 1 1h 10m 1w 60\n  A 192.0.2.1\nwww 60 CNAME @\n_sip._tcp SRV 1 2 53 sip\nt TXT "a b" "c\\"d"\n';

/** Seeds: each file in the form that its program writes. */
export const target: Target = {
  maxLength: 5000,
  isSlow: true,
  seeds: () => [
    of('pihole.toml', TOML),
    of('setupVars.conf', 'PIHOLE_DNS_1=192.0.2.1#53\nREV_SERVER=true\nBLOCKING_ENABLED=false\n'),
    of('adlist.json', '[{"id":1,"address":"https://lists.example.org/a.txt","enabled":1,"comment":"c"}]'),
    of('custom.list', '192.0.2.5 nas.home.arpa\n2001:db8::5 nas\n'),
    of(
      'gravity.db',
      sqliteOf(
        "CREATE TABLE adlist (id INTEGER, address TEXT, enabled BOOLEAN); INSERT INTO adlist VALUES (1, 'https://lists.example.org/a', 1)",
      ).subarray(0, 4900),
    ),
    of('blocked.config', namesFile('BZ', ['ads.example', 'track.example'])),
    of('blocklist.config', octets(octetsOf('BL'), [1, 1, 5], octetsOf('!http'), [24, 0, 0, 0])),
    of('settings.json', '{"response":{"forwarders":["192.0.2.1"],"enableBlocking":true}}'),
    of('zones/example.org.txt', ZONE),
    of(
      'apps/Advanced Blocking/dnsApp.config',
      '{"groups":[{"name":"kids","blocked":["a.example"],"blockListUrls":["https://lists.example.org/b"]}],"networkGroupMap":{"192.0.2.0/24":"kids"}}',
    ),
  ],
  dictionary: [
    '[',
    ']',
    '{',
    '}',
    '":',
    '\n',
    '#',
    'IN ',
    '(',
    ')',
    ';',
    '\\',
    '"',
    ', ',
    'BZ\u0001',
    '192.0.2.1',
  ],
  run,
};
