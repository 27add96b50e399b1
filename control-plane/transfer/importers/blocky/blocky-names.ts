/** Names that blocky answers itself, and domains with servers of their own. Pure. */
import { contentLines, decodeText } from '../files/decode-text.ts';
import { fileAt } from '../files/file-set.ts';
import { placeOf } from '../plan/client-place.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import { addHostsLine } from '../plan/hosts-lines.ts';
import type { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PlannedPools } from '../plan/planned-pools.ts';
import { isLocalType, readZone } from '../plan/zone-records.ts';
import type { BlockySettings } from './blocky-settings.ts';

/** blocky's default for names of its own, seconds. */
const CUSTOM_TTL_SECS = 3600;

/** Adds records, hosts files and zones. */
export function mapBlockyNames(
  builder: PlanBuilder,
  names: OwnNames,
  pools: PlannedPools,
  settings: BlockySettings,
): void {
  mapMapping(builder, settings);
  mapZone(builder, settings);
  mapHosts(builder, names, settings);
  for (const [domain, servers] of settings.file.members('conditional.mapping')) {
    const written = (servers.text() ?? '').split(',').map((one) => one.trim());
    if (domain === '.') {
      builder.notMapped('forward_zone', domain, 'Weir has no servers for names of one label alone');
      continue;
    }
    const read = pools.servers(written);
    const item = builder.item('forward_zone', domain);
    if (read.length === 0) builder.refuse(item, 'Weir cannot ask any of its servers');
    else builder.zone({ zone: domain, servers: read, enabled: true }, item);
  }
  for (const section of ['customDNS', 'conditional'])
    if (settings.file.members(`${section}.rewrite`).length > 0)
      builder.notMapped('other', `${section}.rewrite`, 'Weir does not rewrite names of questions');
}

/** A name of the mapping stands for all names below it, too. */
function mapMapping(builder: PlanBuilder, { file }: BlockySettings): void {
  const ttlSecs = goDurationSecs(file.text('customDNS.customTTL'), 60) ?? CUSTOM_TTL_SECS;
  for (const [name, value] of file.members('customDNS.mapping')) {
    for (const address of (value.text() ?? '').split(',').map((one) => one.trim())) {
      const item = builder.item('local_record', `${name} ${address}`, 'with all names below it');
      if (placeOf(address)?.kind !== 'ip') {
        builder.refuse(item, 'its value is not an address');
        continue;
      }
      const type = address.includes(':') ? 'AAAA' : 'A';
      for (const owner of [name, `*.${name}`])
        builder.record({ name: owner, type, value: address, ttlSecs }, item);
    }
  }
}

function mapZone(builder: PlanBuilder, { file, files }: BlockySettings): void {
  const text = file.text('customDNS.zone');
  if (text === undefined) return;
  const include = (path: string): string | undefined => {
    const content =
      fileAt(files, path.replace(/^[./]+/, '')) ?? fileAt(files, path.split('/').at(-1) ?? path);
    return content === undefined ? undefined : decodeText(content);
  };
  const { records, faults } = readZone(text, '', include);
  for (const { owner, type, value, ttlSecs } of records) {
    const item = builder.item('local_record', `${owner} ${type} ${value}`);
    if (!isLocalType(type)) builder.refuse(item, `Weir has no local records of the type ${type}`);
    else builder.record({ name: owner, type, value, ...(ttlSecs === undefined ? {} : { ttlSecs }) }, item);
  }
  for (const fault of faults)
    builder.notMapped('local_record', fault, 'Weir cannot read this line of the zone');
}

function mapHosts(builder: PlanBuilder, names: OwnNames, { file, files }: BlockySettings): void {
  const old = file.text('hostsFile.filePath');
  for (const source of file.texts('hostsFile.sources') ?? (old === undefined ? [] : [old])) {
    const isText = source.includes('\n');
    const content = isText ? Buffer.from(source) : fileAt(files, source.replace(/^[./]+/, ''));
    if (content === undefined) {
      builder.notMapped(
        'other',
        `hosts file ${source}`,
        'the upload has no such file: add it to the archive',
      );
      continue;
    }
    for (const line of contentLines(content))
      if (!addHostsLine(builder, names, line, null))
        builder.notMapped('local_record', line, 'it is not a line of a hosts file');
  }
}
