/** The names that blocky answers itself, before they become records: of its mapping, zone and hosts files. Pure. */
import { contentLines, decodeText } from '../files/decode-text.ts';
import { fileAt } from '../files/file-set.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { placeOf } from '../plan/client-place.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import { readHostsLine } from '../plan/hosts-lines.ts';
import { readZone, type ZoneRecord } from '../plan/zone-records.ts';
import type { BlockySettings } from './blocky-settings.ts';

/** blocky's default TTL for names that it answers itself, in seconds. */
const OWN_TTL_SECS = 3600;
const LOOPBACK = /^(?:127\.|::1$)/;

/** An address in a hosts file. */
export interface HostsAddress {
  readonly name: string;
  readonly address: string;
  readonly ttlSecs: number;
}

/** The records, and the lines that contain none. */
export interface BlockyRecords {
  /** Records of `customDNS.mapping`; a value may be something other than an address. */
  readonly mapping: readonly ZoneRecord[];
  readonly zone: readonly ZoneRecord[];
  readonly zoneFaults: readonly string[];
  /** The last address of each name and family applies. */
  readonly hosts: readonly HostsAddress[];
  readonly hostsFaults: readonly string[];
  /** Sources that are not in the upload. */
  readonly missing: readonly string[];
}

/** Reads the records. */
export function readBlockyRecords(settings: Pick<BlockySettings, 'file' | 'files'>): BlockyRecords {
  const { file, files } = settings;
  const include = (path: string): string | undefined => {
    const content =
      fileAt(files, path.replace(/^[./]+/, '')) ?? fileAt(files, path.split('/').at(-1) ?? path);
    return content === undefined ? undefined : decodeText(content);
  };
  const { records, faults } = readZone(file.text('customDNS.zone') ?? '', '', include);
  const zone = records.map((record) => ({ ...record, owner: record.owner.toLowerCase() }));
  return { mapping: readMapping(file), zone, zoneFaults: faults, ...readHosts(settings) };
}

/** The names of an address that blocky finds before it queries a server: in its records, then in hosts files. */
export function localNamesOf({ mapping, zone, hosts }: BlockyRecords): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (name: string, address: string): void => {
    found.set(name, [...(found.get(name) ?? []), address]);
  };
  for (const { owner, type, value } of [...mapping, ...zone])
    if (type === 'A' || type === 'AAAA') add(owner, value);
  const known = new Set([...found.values()].flat());
  for (const { name, address } of hosts) if (!known.has(address)) add(name, address);
  return found;
}

function readMapping(file: ForeignTree): ZoneRecord[] {
  const ttlSecs = goDurationSecs(file.text('customDNS.customTTL'), 60) ?? OWN_TTL_SECS;
  return file.members('customDNS.mapping').flatMap(([name, value]) =>
    (value.text() ?? '').split(',').map((written) => {
      const address = written.trim();
      const isAddress = placeOf(address)?.kind === 'ip';
      const type = !isAddress ? '' : address.includes(':') ? 'AAAA' : 'A';
      return { owner: name.toLowerCase().replace(/\.$/, ''), type, value: address, ttlSecs };
    }),
  );
}

function readHosts({
  file,
  files,
}: Pick<BlockySettings, 'file' | 'files'>): Pick<BlockyRecords, 'hosts' | 'hostsFaults' | 'missing'> {
  const old = file.text('hostsFile.filePath');
  const sources = file.texts('hostsFile.sources') ?? (old === undefined ? [] : [old]);
  const ttlSecs = goDurationSecs(file.text('hostsFile.hostsTTL'), 60) ?? OWN_TTL_SECS;
  const isFiltered = file.flag('hostsFile.filterLoopback') === true;
  const hosts = new Map<string, HostsAddress>();
  const hostsFaults: string[] = [];
  const missing: string[] = [];
  for (const source of sources) {
    const isText = source.includes('\n');
    const content = isText ? Buffer.from(source) : fileAt(files, source.replace(/^[./]+/, ''));
    if (content === undefined) missing.push(source);
    for (const line of contentLines(content)) {
      const read = readHostsLine(line);
      if (read === null) hostsFaults.push(line);
      else if (!isFiltered || !LOOPBACK.test(read.address))
        for (const name of read.names.map((one) => one.toLowerCase()))
          hosts.set(`${name} ${read.address.includes(':')}`, { name, address: read.address, ttlSecs });
    }
  }
  return { hosts: [...hosts.values()], hostsFaults, missing };
}
