/** Maps lines of a hosts file to local records, or to denied names if the address means blocking. Pure. */
import { addressFromText, addressToText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import type { OwnNames } from './own-names.ts';
import type { PlanBuilder } from './plan-builder.ts';

/** Addresses that mean "no such host" in blocking hosts files. */
const SINKS = new Set(['0.0.0.0', '127.0.0.1', '::', '::1']);
/** Default entries of hosts files. */
const OF_SYSTEM = /^(?:localhost|.*\.localdomain|broadcasthost|ip6-.*|localhost[46])$/i;

/** Whether the name is a usual entry of a system's hosts file. */
export function isSystemName(name: string): boolean {
  return OF_SYSTEM.test(name);
}

/** The address and the names in a line; null for a line of another form. */
export function readHostsLine(line: string): { readonly address: string; readonly names: string[] } | null {
  const [written = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
  const bytes = written.includes('%') ? null : addressFromText(written);
  if (bytes === null || names.length === 0) return null;
  return { address: addressToText(bytes), names };
}

/** Whether a line denies its names. */
export function isSinkLine(line: string): boolean {
  return SINKS.has(readHostsLine(line)?.address ?? '');
}

/** Adds the content of a line: records, or denied names for `groups`; false if it is not a line of a hosts file. */
export function addHostsLine(
  builder: PlanBuilder,
  names: OwnNames,
  line: string,
  groups: readonly string[] | null,
  ttlSecs?: number,
): boolean {
  const read = readHostsLine(line);
  if (read === null) return false;
  if (!SINKS.has(read.address)) addHostsRecords(builder, line, ttlSecs);
  else for (const name of read.names) if (!isSystemName(name)) names.add({ name, action: 'deny', groups });
  return true;
}

/** Adds the records of a line with a real address. */
export function addHostsRecords(builder: PlanBuilder, line: string, ttlSecs?: number): void {
  const { address = '', names = [] } = readHostsLine(line) ?? {};
  for (const name of names) if (!isSystemName(name)) addAddress(builder, name, address, ttlSecs);
}

/** Adds the record of a name with an address. */
export function addAddress(builder: PlanBuilder, name: string, address: string, ttlSecs?: number): void {
  const bytes = addressFromText(address);
  const type = bytes !== null && !isMappedIpv4(bytes) ? 'AAAA' : 'A';
  const item = builder.item('local_record', `${name} ${address}`);
  builder.record({ name, type, value: address, ...(ttlSecs === undefined ? {} : { ttlSecs }) }, item);
}
