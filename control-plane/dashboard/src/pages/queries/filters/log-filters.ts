/** Filter conditions of the log: in the URL, as API parameters, and as chips. */
import type { CallOf } from '../../../../../../shared/api/client/typed-client.ts';
import { rrTypeCode } from '../../../../../../shared/dns/iana.ts';
import { addressFromText } from '../../../../../../shared/net/ip.ts';
import { networkFromText } from '../../../../../../shared/net/cidr.ts';
import {
  ANY_BLOCKED,
  DNSSEC_STATUS_NAMES,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
} from '../../../../../../shared/query-log.ts';
import type { MessageKey } from '../../../i18n/language.ts';

type LogQuery = NonNullable<CallOf<'GET /queries'>['query']>;

/** Fields of conditions on rows. */
export const CONDITIONS = [
  'domain',
  'client',
  'client_id',
  'group_id',
  'type',
  'status',
  'rcode',
  'protocol',
  'upstream',
  'dnssec',
  'block_source',
  'node',
] as const satisfies readonly (keyof LogQuery)[];
export type ConditionName = (typeof CONDITIONS)[number];
/** Name of a condition; with `!`, it excludes matching rows. */
export type ConditionKey = ConditionName | `${ConditionName}!`;

/** Lengths of periods that end now. */
export const PERIODS = ['1h', '24h', '7d', '30d'] as const;

/** All fields of the URL that select rows; an empty field is not a condition. */
export type FilterFields = Readonly<Record<ConditionKey | 'period' | 'from' | 'to', string>>;

export const NO_FILTERS = Object.fromEntries(
  ['period', 'from', 'to', ...CONDITIONS.flatMap((name) => [name, `${name}!`])].map((key) => [key, '']),
) as FilterFields;

/** An active condition. */
export interface Chip {
  readonly key: ConditionKey;
  readonly name: ConditionName;
  readonly isExcluded: boolean;
  readonly value: string;
}

/** Query parameters of the API. */
export function filtersOf(fields: FilterFields): Readonly<Record<string, string>> {
  const set = Object.keys(NO_FILTERS).map((key) => [key, fields[key as keyof FilterFields]] as const);
  return Object.fromEntries(set.filter(([, value]) => value !== ''));
}

export function conditionKey(name: ConditionName, isExcluded: boolean): ConditionKey {
  return isExcluded ? `${name}!` : name;
}

/**
 * Sets a condition. The condition replaces an earlier condition on the same field, even one with the opposite meaning.
 */
export function replacing(name: ConditionName, value: string, isExcluded: boolean): Partial<FilterFields> {
  return { [conditionKey(name, isExcluded)]: value, [conditionKey(name, !isExcluded)]: '' };
}

/** The active conditions, except the domain, which is in the search box. */
export function chipsOf(fields: FilterFields): Chip[] {
  return CONDITIONS.flatMap((name) =>
    [false, true].map((isExcluded) => {
      const key = conditionKey(name, isExcluded);
      return { key, name, isExcluded, value: fields[key] };
    }),
  ).filter(({ key, value }) => value !== '' && key !== 'domain');
}

/** Conditions that clearing the log ignores, because it can select only a device, a period, or both. */
export function unclearable(fields: FilterFields, hasDevice: boolean): Chip[] {
  const domain = { key: 'domain', name: 'domain', isExcluded: false, value: fields.domain } as const;
  return [...(fields.domain === '' ? [] : [domain]), ...chipsOf(fields)].filter(
    ({ key }) => !(hasDevice && (key === 'client' || key === 'client_id')),
  );
}

/** Choices for the value of a condition; null if any text is valid. */
export function choicesOf(name: ConditionName): readonly string[] | null {
  if (name === 'status') return [ANY_BLOCKED, ...QUERY_STATUS_NAMES];
  if (name === 'protocol') return PROTOCOL_NAMES;
  return name === 'dnssec' ? DNSSEC_STATUS_NAMES : null;
}

/** Common values of conditions, which are suggested. */
export const USUAL: Readonly<Partial<Record<ConditionName, readonly string[]>>> = {
  type: ['A', 'AAAA', 'HTTPS', 'PTR', 'TXT', 'MX', 'SRV', 'NS', 'CNAME', 'SOA', 'DS', 'DNSKEY', 'ANY'],
  rcode: ['NOERROR', 'NODATA', 'NXDOMAIN', 'SERVFAIL', 'REFUSED', 'FORMERR', 'NOTIMP'],
};

/** Error in the value of a condition; null if it is valid. */
export function conditionFault(name: ConditionName, text: string): MessageKey | null {
  const value = text.trim();
  if (value === '') return 'queries.filter.empty';
  if (name === 'client' && addressFromText(value) === null && networkFromText(value) === null)
    return 'queries.filter.notClient';
  if (name === 'type' && rrTypeCode(value) === undefined) return 'queries.filter.notType';
  if (name === 'rcode' && !/^[A-Z]+\d*$/i.test(value)) return 'queries.filter.notRcode';
  return null;
}
