/** Form values of local records and forward zones, and the bodies of their requests. */
import type { AnswerOf, CallOf } from '../../../../../shared/api/client/typed-client.ts';

export type LocalRecord = AnswerOf<'GET /local-records'>[number];
/** A zone with its own servers. */
export type ForwardZone = AnswerOf<'GET /forward-zones'>[number];

/** Record types, the most common first. */
export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'SRV', 'PTR'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface RecordFields {
  readonly fqdn: string;
  /** `auto` selects A or AAAA by the address. */
  readonly type: RecordType | 'auto';
  readonly value: string;
  /** TTL in seconds, as text. */
  readonly ttl: string;
  readonly comment: string;
}

/** Form values of an existing or a new record. */
export function fieldsOfRecord(record: LocalRecord | null): RecordFields {
  if (record === null) return { fqdn: '', type: 'auto', value: '', ttl: '300', comment: '' };
  const { fqdn, record_type: type, value, ttl, comment } = record;
  return { fqdn, type, value, ttl: `${ttl}`, comment };
}

/** Whether the form can be sent: no field is empty and the TTL is a number. */
export function isRecordReady({ fqdn, value, ttl }: RecordFields): boolean {
  return fqdn.trim() !== '' && value.trim() !== '' && /^\d{1,6}$/.test(ttl.trim());
}

/** Body of the request. A single label is a host name in the local domain. */
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

/** The records that match a search, sorted by name. */
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

/** The fields of a zone's form. */
export interface ZoneFields {
  readonly zone: string;
  /** Addresses of servers, one per line. */
  readonly servers: string;
  readonly comment: string;
}

/** Form values of an existing or a new zone. */
export function fieldsOfZone(zone: ForwardZone | null): ZoneFields {
  if (zone === null) return { zone: '', servers: '', comment: '' };
  return { zone: zone.zone, servers: zone.servers.join('\n'), comment: zone.comment };
}

/** Servers in a text, separated by lines or commas. */
export function serversOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter((server) => server !== '');
}
