/** Names that blocky answers itself, and domains with their own servers. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import { reverseName } from '../../../../shared/policy/local-record.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { isSystemName } from '../plan/hosts-lines.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PlannedPools } from '../plan/planned-pools.ts';
import { isLocalType, type ZoneRecord } from '../plan/zone-records.ts';
import type { BlockyRecords } from './blocky-records.ts';
import type { BlockySettings } from './blocky-settings.ts';

/** Domains of private networks (RFC 6762 appendix G) that blocky answers with NXDOMAIN. */
const PRIVATE_DOMAINS = ['intranet', 'internal', 'private', 'corp', 'home', 'lan'];

const ONE_LABEL = importReason('blocky_fqdn_only');

/** Recipients of the imported names. */
export interface NameParts {
  readonly builder: PlanBuilder;
  readonly pools: PlannedPools;
}

/** Whether queries for single-label names are not answered, not even from a record. */
export function isFqdnOnly(file: ForeignTree): boolean {
  return file.flag('fqdnOnly.enable') === true || file.flag('fqdnOnly') === true;
}

/** Adds records, zones, and names that are answered without either. */
export function mapBlockyNames(parts: NameParts, { file }: BlockySettings, records: BlockyRecords): void {
  const { builder } = parts;
  const isOneLabelRefused = isFqdnOnly(file);
  const own = ownRecords(builder, records).filter((record) => {
    const isAnswered = record.owner.includes('.') || !isOneLabelRefused;
    if (!isAnswered) builder.skipped('local_record', `${record.owner} ${record.value}`, ONE_LABEL);
    return isAnswered;
  });
  for (const record of own) addWithSubdomains(builder, record);
  reportShared(builder, own);
  mapRewrites(
    builder,
    file.members('customDNS.rewrite').map(([from, to]) => [from, to.text() ?? '']),
    own,
  );
  if (file.flag('customDNS.filterUnmappedTypes') === false && own.length > 0)
    builder.differs('other', 'customDNS.filterUnmappedTypes', importReason('other_types'), [
      ...new Set(own.map(({ owner }) => owner)),
    ]);
  mapHosts(builder, records, (name) => {
    const above = parentsOf(name).find((one) => own.some(({ owner }) => owner === one));
    if (above !== undefined) return importReason('blocky_custom_dns_first', { name: above });
    return isOneLabelRefused && !name.includes('.') ? ONE_LABEL : null;
  });
  const zones = mapConditional(
    parts,
    file.members('conditional.mapping').map(([domain, servers]) => [domain, servers.text() ?? '']),
  );
  if (file.members('conditional.rewrite').length > 0)
    builder.notMapped('other', 'conditional.rewrite', importReason('blocky_no_rewriting'));
  if (
    file.flag('specialUseDomains.enable') !== false &&
    file.flag('specialUseDomains.rfc6762-appendixG') !== false
  )
    addPrivateDomains(parts, zones);
}

/** A name in the zone overrides the same name in the mapping. */
function ownRecords(builder: PlanBuilder, { mapping, zone, zoneFaults }: BlockyRecords): ZoneRecord[] {
  const ofZone = new Set(zone.map(({ owner }) => owner));
  const own = mapping.filter((record) => {
    const shown = `${record.owner} ${record.value}`;
    if (record.owner.includes('*')) builder.notMapped('local_record', shown, importReason('blocky_asterisk'));
    else if (record.type === '')
      builder.notMapped('local_record', shown, importReason('blocky_value_no_address'));
    else if (ofZone.has(record.owner))
      builder.skipped('local_record', shown, importReason('blocky_zone_first'));
    else return true;
    return false;
  });
  for (const fault of zoneFaults) builder.notMapped('local_record', fault, importReason('blocky_zone_line'));
  return [...own, ...zone];
}

/** Reports addresses that several names have, because the answer to a PTR query for them differs. */
function reportShared(builder: PlanBuilder, own: readonly ZoneRecord[]): void {
  const names = new Map<string, Set<string>>();
  for (const { owner, type, value } of own)
    if (type === 'A' || type === 'AAAA') names.set(value, (names.get(value) ?? new Set()).add(owner));
  const shared = [...names].flatMap(([address, owners]) => (owners.size > 1 ? [address] : []));
  if (shared.length > 0)
    builder.differs(
      'local_record',
      'addresses with several names',
      importReason('blocky_shared_addresses', {
        addresses: `${shared.slice(0, 3).join(', ')}${shared.length > 3 ? ', ...' : ''}`,
      }),
      shared.flatMap((address) => {
        const bytes = addressFromText(address);
        return bytes === null ? [] : [reverseName(bytes)];
      }),
    );
}

/** A name in blocky includes its subdomains. */
function addWithSubdomains(
  builder: PlanBuilder,
  { owner, type, value, ttlSecs }: ZoneRecord,
  rewrittenTo: string | null = null,
): void {
  const isAddress = type === 'A' || type === 'AAAA';
  const shown = isAddress ? `${owner} ${value}` : `${owner} ${type} ${value}`;
  const item = builder.item(
    'local_record',
    shown,
    rewrittenTo === null
      ? importReason('blocky_names_below')
      : importReason('blocky_rewritten_below', { name: rewrittenTo }),
  );
  if (!isLocalType(type)) return builder.refuse(item, importReason('no_record_type', { type }));
  for (const name of owner.startsWith('*.') ? [owner] : [owner, `*.${owner}`])
    builder.record({ name, type, value, ...(ttlSecs === undefined ? {} : { ttlSecs }) }, item);
}

/** `home: lan`: a name below home is answered as the same name below lan. */
function mapRewrites(
  builder: PlanBuilder,
  rewrites: readonly (readonly [from: string, to: string])[],
  own: readonly ZoneRecord[],
): void {
  for (const [written, writtenTo] of rewrites) {
    const [from, to] = [written.toLowerCase(), writtenTo.toLowerCase()];
    for (const record of own.filter(({ type }) => isLocalType(type))) {
      if (record.owner === to) addWithSubdomains(builder, { ...record, owner: `*.${from}` }, to);
      else if (record.owner.endsWith(`.${to}`))
        addWithSubdomains(builder, { ...record, owner: record.owner.slice(0, -to.length) + from }, to);
    }
    builder.differs(
      'other',
      `customDNS.rewrite ${from}: ${to}`,
      importReason('blocky_rewrite', { from, to }),
      [from],
    );
  }
}

/** A hosts file applies after blocky's own records, which include their subdomains. */
function mapHosts(
  builder: PlanBuilder,
  records: BlockyRecords,
  whySkipped: (name: string) => ImportReason | null,
): void {
  const { hosts, hostsFaults, missing } = records;
  for (const source of missing)
    builder.notMapped('other', itemName('hosts_file', { source }), importReason('not_in_upload'));
  // An unknown line may contain anything, even a password.
  if (hostsFaults.length > 0)
    builder.notMapped(
      'local_record',
      `hosts files: ${hostsFaults.length === 1 ? '1 line' : `${hostsFaults.length} lines`}`,
      importReason('hidden_hosts_line'),
    );
  const families = new Map<string, Set<string>>();
  for (const { name, address, ttlSecs } of hosts) {
    // Weir answers the usual entries of the system's hosts file itself.
    if (isSystemName(name)) continue;
    const shown = `${name} ${address}`;
    const reason = whySkipped(name);
    if (reason !== null) {
      builder.skipped('local_record', shown, reason);
      continue;
    }
    const type = address.includes(':') ? 'AAAA' : 'A';
    families.set(name, (families.get(name) ?? new Set()).add(type));
    builder.record({ name, type, value: address, ttlSecs }, builder.item('local_record', shown));
  }
  if (families.size > 0)
    builder.differs('other', itemName('hosts_names'), importReason('other_types_of_hosts'), [
      ...families.keys(),
    ]);
}

/** Adds forward zones; returns the domains that have one. */
function mapConditional(
  { builder, pools }: NameParts,
  mapping: readonly (readonly [domain: string, servers: string])[],
): string[] {
  return mapping.flatMap(([domain, servers]) => {
    if (domain === '.') {
      builder.notMapped('forward_zone', domain, importReason('single_label_servers'));
      return [];
    }
    const item = builder.item('forward_zone', domain);
    const read = pools.servers(servers.split(',').map((one) => one.trim()));
    if (read.length === 0) builder.refuse(item, importReason('no_servers'));
    else builder.zone({ zone: domain, servers: read, enabled: true }, item);
    return [domain.toLowerCase()];
  });
}

/** Adds the private domains, which are never forwarded unless they have their own servers. */
function addPrivateDomains({ builder }: NameParts, zones: readonly string[]): void {
  for (const zone of PRIVATE_DOMAINS) {
    if (zones.includes(zone)) continue;
    const item = builder.item('forward_zone', `specialUseDomains: ${zone}`, importReason('answered_by_weir'));
    builder.zone({ zone, servers: [], enabled: true }, item);
  }
}

/** The name and its parent domains. */
function parentsOf(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, from) => labels.slice(from).join('.'));
}
