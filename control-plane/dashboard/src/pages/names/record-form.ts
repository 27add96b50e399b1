/** The forms of local records and forward zones, and the bodies that are sent. */
import type { AnswerOf, CallOf } from '../../../../../shared/api/client/typed-client.ts';

/** A record. */
export type LocalRecord = AnswerOf<'GET /local-records'>[number];
/** A zone with its own servers. */
export type ForwardZone = AnswerOf<'GET /forward-zones'>[number];

/** Types of records, the most frequent first. */
export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'SRV', 'PTR'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** The fields of a record's form. */
export interface RecordFields {
  readonly fqdn: string;
  /** 'auto': A or AAAA, depending on the address. */
  readonly type: RecordType | 'auto';
  readonly value: string;
  /** Seconds, as text. */
  readonly ttl: string;
  readonly comment: string;
}

/** The form of a record, or of a new one. */
export function fieldsOfRecord(record: LocalRecord | null): RecordFields {
  if (record === null) return { fqdn: '', type: 'auto', value: '', ttl: '300', comment: '' };
  const { fqdn, record_type: type, value, ttl, comment } = record;
  return { fqdn, type, value, ttl: `${ttl}`, comment };
}

/** Whether it can be sent: a TTL is a number, nothing is empty. */
export function isRecordReady({ fqdn, value, ttl }: RecordFields): boolean {
  return fqdn.trim() !== '' && value.trim() !== '' && /^\d{1,6}$/.test(ttl.trim());
}

/** The body of a record. A single label is a host name, within the local domain. */
export function bodyOfRecord(fields: RecordFields): NonNullable<CallOf<'POST /local-records'>['body']> {
  const name = fields.fqdn.trim();
  const isLabel = !name.replace(/\.$/, '').includes('.') && !name.includes(':');
  return {
    ...(isLabel ? { hostname: name } : { fqdn: name }),
    ...(fields.type === 'auto' ? {} : { record_type: fields.type }),
    value: fields.value.trim(),
    ttl: Number(fields.ttl),
    comment: fields.comment.trim(),
  };
}

/** The records that fit, by name. */
export function fittingRecords(
  records: readonly LocalRecord[],
  { search, type, source }: { readonly search: string; readonly type: string; readonly source: string },
): LocalRecord[] {
  const wanted = search.trim().toLowerCase();
  return records
    .filter(
      (record) =>
        (type === '' || record.record_type === type) &&
        (source === '' || record.source === source) &&
        [record.fqdn, record.value, record.comment].some((text) => text.toLowerCase().includes(wanted)),
    )
    .sort(
      (one, other) => one.fqdn.localeCompare(other.fqdn) || one.record_type.localeCompare(other.record_type),
    );
}

/** The servers of a text: one a line, or with commas between. */
export function serversOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter((server) => server !== '');
}
