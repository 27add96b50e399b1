/** Names of dnsmasq's options that Weir answers itself: records, aliases, and clients that DHCP names. Pure. */
import { addressFromText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { canonicalMac } from '../../../../shared/net/mac.ts';
import type { LocalRecordType } from '../../../../shared/policy/local-record.ts';
import { addAddress } from '../plan/hosts-lines.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** `name[,name...],target[,ttl]`. */
export function addCname(builder: PlanBuilder, line: string): void {
  const parts = partsOf(line);
  const last = parts.at(-1) ?? '';
  const ttlSecs = /^\d{1,9}$/.test(last) && parts.length > 2 ? Number(parts.pop()) : undefined;
  const target = parts.pop() ?? '';
  if (parts.length === 0) return builder.notMapped('local_record', line, 'it is not an alias with a target');
  for (const name of parts) {
    const item = builder.item('local_record', `${name} CNAME ${target}`);
    const record = { name, type: 'CNAME', value: target } as const;
    builder.record(ttlSecs === undefined ? record : { ...record, ttlSecs }, item);
  }
}

/** `name[,name...][,IPv4][,IPv6][,ttl]` of `host-record`. */
export function addHostRecord(builder: PlanBuilder, line: string): void {
  const parts = partsOf(line);
  const last = parts.at(-1) ?? '';
  const ttlSecs = /^\d{1,9}$/.test(last) ? Number(parts.pop()) : undefined;
  const addresses = parts.filter((part) => addressFromText(part) !== null);
  const names = parts.filter((part) => addressFromText(part) === null);
  if (addresses.length === 0 || names.length === 0)
    return builder.notMapped('local_record', line, 'it is not a name with an address');
  for (const name of names) for (const address of addresses) addAddress(builder, name, address, ttlSecs);
}

/** `txt-record`, `ptr-record`, `mx-host` and `srv-host`, with the order of their parts. */
export function addOtherRecord(builder: PlanBuilder, option: string, line: string): void {
  const [name = '', ...rest] = partsOf(line);
  const record = recordOf(option, rest);
  const item = builder.item('local_record', `${option}=${line}`);
  if (record === null) return builder.refuse(item, 'Weir cannot read it');
  builder.record({ name, ...record }, item);
}

function recordOf(
  option: string,
  parts: readonly string[],
): { readonly type: LocalRecordType; readonly value: string } | null {
  const [first = '', second = '', third = '0', fourth = '0'] = parts;
  if (first === '') return null;
  if (option === 'txt-record') return { type: 'TXT', value: parts.join(',').replaceAll(/^"|"$/g, '') };
  if (option === 'ptr-record') return { type: 'PTR', value: first };
  if (option === 'mx-host') return { type: 'MX', value: `${second === '' ? '1' : second} ${first}` };
  return { type: 'SRV', value: `${third} ${fourth} ${second} ${first}` };
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
    return builder.notMapped('client', line, 'Weir gives no addresses, and this names no client with a MAC');
  builder.client(
    { mac, ip: null, key: null, name, group: null },
    builder.item('client', line, 'its name only'),
  );
}

/** A name and all below it with an address. */
export function addAddressOfAll(builder: PlanBuilder, name: string, address: string): void {
  const bytes = addressFromText(address);
  const type = bytes !== null && !isMappedIpv4(bytes) ? 'AAAA' : 'A';
  const item = builder.item('local_record', `${name} ${address}`, 'with all names below it');
  for (const owner of [name, `*.${name}`]) builder.record({ name: owner, type, value: address }, item);
}

function partsOf(line: string): string[] {
  return line.split(',').map((part) => part.trim());
}
