/** Conditions on the log: in the address, as the API takes them, and as chips. */
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
  'node',
] as const satisfies readonly (keyof LogQuery)[];
export type ConditionName = (typeof CONDITIONS)[number];
/** Name of a condition; with `!`, it excludes the rows that match. */
export type ConditionKey = ConditionName | `${ConditionName}!`;

/** Spans to look back. */
export const PERIODS = ['1h', '24h', '7d', '30d'] as const;

/** All fields of the address that select rows, each empty: no condition. */
export type FilterFields = Readonly<Record<ConditionKey | 'period' | 'from' | 'to', string>>;

export const NO_FILTERS = Object.fromEntries(
  ['period', 'from', 'to', ...CONDITIONS.flatMap((name) => [name, `${name}!`])].map((key) => [key, '']),
) as FilterFields;

/** A condition that is set. */
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

/** The key of a condition. */
export function conditionKey(name: ConditionName, isExcluded: boolean): ConditionKey {
  return isExcluded ? `${name}!` : name;
}

/** Sets a condition and replaces an earlier one on the same field, even if that was the opposite. */
export function replacing(name: ConditionName, value: string, isExcluded: boolean): Partial<FilterFields> {
  return { [conditionKey(name, isExcluded)]: value, [conditionKey(name, !isExcluded)]: '' };
}

/** The conditions that are set, except for the domain, which the search box shows. */
export function chipsOf(fields: FilterFields): Chip[] {
  return CONDITIONS.flatMap((name) =>
    [false, true].map((isExcluded) => {
      const key = conditionKey(name, isExcluded);
      return { key, name, isExcluded, value: fields[key] };
    }),
  ).filter(({ key, value }) => value !== '' && key !== 'domain');
}

/** The choices of a condition; null if it takes any text. */
export function choicesOf(name: ConditionName): readonly string[] | null {
  if (name === 'status') return [ANY_BLOCKED, ...QUERY_STATUS_NAMES];
  if (name === 'protocol') return PROTOCOL_NAMES;
  return name === 'dnssec' ? DNSSEC_STATUS_NAMES : null;
}

/** Texts that are often wanted. */
export const USUAL: Readonly<Partial<Record<ConditionName, readonly string[]>>> = {
  type: ['A', 'AAAA', 'HTTPS', 'PTR', 'TXT', 'MX', 'SRV', 'NS', 'CNAME', 'SOA', 'DS', 'DNSKEY', 'ANY'],
  rcode: ['NOERROR', 'NODATA', 'NXDOMAIN', 'SERVFAIL', 'REFUSED', 'FORMERR', 'NOTIMP'],
};

/** The error in a text; null = valid. */
export function conditionFault(name: ConditionName, text: string): MessageKey | null {
  const value = text.trim();
  if (value === '') return 'queries.filter.empty';
  if (name === 'client' && addressFromText(value) === null && networkFromText(value) === null)
    return 'queries.filter.notClient';
  if (name === 'type' && rrTypeCode(value) === undefined) return 'queries.filter.notType';
  if (name === 'rcode' && !/^[A-Z]+\d*$/i.test(value)) return 'queries.filter.notRcode';
  return null;
}
