/**
 * Collects all local records, which this server answers itself, from the configuration, the API and DHCP, in this order
 * of precedence, and derives PTR records from their addresses. Pure.
 */
import { addressFromText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import { type LocalRecordType, readLocalValue, reverseName } from '../../../../shared/policy/local-record.ts';
import type { LocalSourceName } from '../../../../shared/snapshot/local-name-table.ts';
import { type CompiledRules, seedsOf } from '../../compile/table/compiled-rules.ts';
import { type LivePolicy } from '../../change/runtime-state.ts';
import { type PolicyRows } from '../../change/rows.ts';

/** One record from any source. */
export interface LocalRecord {
  readonly source: LocalSourceName;
  /** Id of a record of the API; 0 for records from other sources. */
  readonly id: number;
  readonly fqdn: string;
  /** Zone of the record; '' = none. */
  readonly domain: string;
  readonly type: LocalRecordType;
  /** Value in canonical form. */
  readonly value: string;
  readonly rdata: Uint8Array;
  readonly ttlSecs: number;
}

/** TTL of names that DHCP has leased, in seconds: a lease may end at any time. */
const LEASE_TTL_SECS = 60;

/** Inputs of local names. */
interface LocalCauses {
  readonly compiled: CompiledRules;
  readonly rows: PolicyRows;
  readonly live: LivePolicy;
}

/** Whether two policies have the same local names with the same hashes. */
export function isSameForLocalNames(a: LocalCauses, b: LocalCauses): boolean {
  const [one, other] = [seedsOf(a.compiled.rules), seedsOf(b.compiled.rules)];
  return (
    one.low === other.low &&
    one.high === other.high &&
    isSame(a.rows.localRecords, b.rows.localRecords) &&
    isSame(a.live.configRecords, b.live.configRecords) &&
    isSame(a.live.leases, b.live.leases)
  );
}

/** Compares flat rows with the same fields without creating objects, because there may be thousands of rows. */
function isSame<T extends object>(a: readonly T[], b: readonly T[]): boolean {
  if (a === b) return true;
  const [first] = a;
  if (a.length !== b.length || first === undefined) return a.length === b.length;
  const fields = Object.keys(first) as (keyof T)[];
  return a.every((row, index) => fields.every((field) => row[field] === b[index]![field]));
}

/** All records in order of precedence. Invalid records are skipped. */
export function localRecords(
  rows: Pick<PolicyRows, 'localRecords'>,
  live: Pick<LivePolicy, 'configRecords' | 'leases'>,
): LocalRecord[] {
  const records: LocalRecord[] = [];
  for (const record of live.configRecords) add(records, { ...record, source: 'config', id: 0, domain: '' });
  for (const record of rows.localRecords) add(records, { ...record, source: 'api' });
  const written = new Set(records.map(({ fqdn }) => fqdn));
  for (const { fqdn, address } of live.leases) {
    const bytes = addressFromText(address);
    const name = canonicalDomain(fqdn);
    // A lease must not change a name that a user has defined.
    if (bytes === null || name === null || written.has(name)) continue;
    const type = isMappedIpv4(bytes) ? 'A' : 'AAAA';
    add(records, {
      source: 'dhcp',
      id: 0,
      fqdn: name,
      domain: '',
      type,
      value: address,
      ttlSecs: LEASE_TTL_SECS,
    });
  }
  return [...records, ...reverseRecords(records)];
}

function add(records: LocalRecord[], record: Omit<LocalRecord, 'rdata'>): void {
  const read = readLocalValue(record.type, record.value);
  if (read.ok) records.push({ ...record, value: read.value, rdata: read.rdata });
}

/** A PTR record for each address whose reverse name has no record yet; the first name of an address is used. */
function reverseRecords(records: readonly LocalRecord[]): LocalRecord[] {
  const taken = new Set(records.map(({ fqdn }) => fqdn));
  const reverse: LocalRecord[] = [];
  for (const record of records) {
    if ((record.type !== 'A' && record.type !== 'AAAA') || record.fqdn.startsWith('*.')) continue;
    const fqdn = reverseName(addressFromText(record.value)!);
    if (taken.has(fqdn)) continue;
    taken.add(fqdn);
    const read = readLocalValue('PTR', record.fqdn);
    if (read.ok)
      reverse.push({ ...record, fqdn, domain: '', type: 'PTR', value: record.fqdn, rdata: read.rdata });
  }
  return reverse;
}
