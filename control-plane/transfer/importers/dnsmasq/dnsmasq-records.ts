/** Names in dnsmasq's options that Weir answers itself: records, aliases, and clients that DHCP names. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { addressFromText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { canonicalMac } from '../../../../shared/net/mac.ts';
import type { LocalRecordType } from '../../../../shared/policy/local-record.ts';
import { addAddress } from '../plan/hosts-lines.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** `name[,name...],target[,ttl]`. */
export function addCname(builder: PlanBuilder, line: string, usualTtlSecs?: number): void {
  const parts = partsOf(line);
  const last = parts.at(-1) ?? '';
  const ttlSecs = /^\d{1,9}$/.test(last) && parts.length > 2 ? Number(parts.pop()) : usualTtlSecs;
  const target = parts.pop() ?? '';
  if (parts.length === 0) return builder.notMapped('local_record', line, importReason('dnsmasq_no_alias'));
  for (const name of parts) {
    const item = builder.item('local_record', `${name} CNAME ${target}`);
    const record = { name, type: 'CNAME', value: target } as const;
    builder.record(ttlSecs === undefined ? record : { ...record, ttlSecs }, item);
  }
}

/** `name[,name...][,IPv4][,IPv6][,ttl]` of `host-record`; returns the names. */
export function addHostRecord(builder: PlanBuilder, line: string, usualTtlSecs?: number): string[] {
  const parts = partsOf(line);
  const last = parts.at(-1) ?? '';
  const ttlSecs = /^\d{1,9}$/.test(last) ? Number(parts.pop()) : usualTtlSecs;
  const addresses = parts.filter((part) => addressFromText(part) !== null);
  const names = parts.filter((part) => addressFromText(part) === null);
  if (addresses.length === 0 || names.length === 0) {
    builder.notMapped('local_record', line, importReason('not_name_with_address'));
    return [];
  }
  for (const name of names) for (const address of addresses) addAddress(builder, name, address, ttlSecs);
  return names;
}

/** `txt-record`, `ptr-record`, `mx-host` and `srv-host`, with the order of their parts. */
export function addOtherRecord(builder: PlanBuilder, option: string, line: string, ttlSecs?: number): void {
  const [name = '', ...rest] = partsOf(line);
  const item = builder.item('local_record', `${option}=${line}`);
  if ((rest[0] ?? '') === '') return builder.refuse(item, importReason('dnsmasq_no_target'));
  const record =
    option === 'txt-record'
      ? { name, type: 'TXT' as const, value: textValue(line.slice(line.indexOf(',') + 1)) }
      : { name, ...recordOf(option, rest) };
  builder.record(ttlSecs === undefined ? record : { ...record, ttlSecs }, item);
}

function recordOf(
  option: string,
  parts: readonly string[],
): { readonly type: LocalRecordType; readonly value: string } {
  const [first = '', second = '', third = '0', fourth = '0'] = parts;
  if (option === 'ptr-record') return { type: 'PTR', value: first.replaceAll('"', '') };
  if (option === 'mx-host') return { type: 'MX', value: `${second === '' ? '1' : second} ${first}` };
  return { type: 'SRV', value: `${third} ${fourth} ${second} ${first}` };
}

/** Text of a TXT record: each part is a string of the record; quotes protect commas. */
function textValue(written: string): string {
  const strings = (written.match(/"[^"]*"|[^,]+/g) ?? []).map((one) => one.trim().replaceAll(/^"|"$/g, ''));
  return strings.length === 1 ? strings[0]! : strings.map((one) => JSON.stringify(one)).join(' ');
}

/** Names the client of a `dhcp-host` that has a MAC and a name. */
export function addDhcpHost(builder: PlanBuilder, line: string): void {
  const parts = partsOf(line);
  const mac = parts.flatMap((part) => canonicalMac(part) ?? [])[0];
  const isName = (part: string): boolean =>
    /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*$/i.test(part) &&
    canonicalMac(part) === null &&
    part !== 'ignore' &&
    part !== 'infinite';
  const name = parts.find(isName);
  if (mac === undefined || name === undefined)
    return builder.notMapped('client', line, importReason('dnsmasq_no_dhcp_host'));
  builder.client(
    { mac, ip: null, key: null, name, group: null },
    builder.item('client', line, importReason('only_name')),
  );
}

/** Adds an address for a name and its subdomains, or only for the subdomains. */
export function addAddressOfAll(
  builder: PlanBuilder,
  name: string,
  address: string,
  { isBelowOnly = false, remark = importReason('names_below'), ttlSecs }: AddressOptions = {},
): void {
  const bytes = addressFromText(address);
  const type = bytes !== null && !isMappedIpv4(bytes) ? 'AAAA' : 'A';
  const item = builder.item('local_record', `${isBelowOnly ? '*.' : ''}${name} ${address}`, remark);
  for (const owner of isBelowOnly ? [`*.${name}`] : [name, `*.${name}`])
    builder.record(
      { name: owner, type, value: address, ...(ttlSecs === undefined ? {} : { ttlSecs }) },
      item,
    );
}

interface AddressOptions {
  readonly isBelowOnly?: boolean;
  readonly remark?: ImportReason;
  readonly ttlSecs?: number | undefined;
}

function partsOf(line: string): string[] {
  return line.split(',').map((part) => part.trim());
}
