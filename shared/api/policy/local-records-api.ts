/** Requests and responses of `{api}/local-records`: names that this server answers itself. */
import { z } from 'zod';
import { DEFAULT_LOCAL_TTL_SECS, LOCAL_RECORD_TYPES, MAX_LOCAL_TTL_SECS } from '../../policy/local-record.ts';
import { Comment, Id, text, Timestamp } from '../fields.ts';

const MAX_VALUE_LENGTH = 8192;

const Ttl = z.int().min(0).max(MAX_LOCAL_TTL_SECS).meta({ description: 'TTL of the record in seconds' });

const RecordType = z
  .string()
  .transform((value) => value.toUpperCase())
  .pipe(z.enum(LOCAL_RECORD_TYPES));

export const LocalRecord = z
  .strictObject({
    id: Id.nullable().meta({ description: 'id of the record; null if the record is not stored by Weir' }),
    hostname: z.string(),
    domain: z.string(),
    fqdn: z.string(),
    record_type: z.enum(LOCAL_RECORD_TYPES),
    value: z.string(),
    ip: z.string().nullable().meta({ description: 'address in an A or AAAA record' }),
    ttl: z.int(),
    comment: z.string(),
    source: z
      .enum(['config', 'api', 'dhcp'])
      .meta({ description: 'where the record comes from; only records with the source api can be changed' }),
    created_at: Timestamp.nullable(),
    updated_at: Timestamp.nullable(),
  })
  .meta({ id: 'LocalRecord' });
export type LocalRecord = z.infer<typeof LocalRecord>;
export const LocalRecordList = z.array(LocalRecord);

/** The name of a record, as `hostname` and `domain` or as `fqdn`, and its value. */
const written = {
  hostname: text(1020).optional().meta({
    description: 'host name within `domain`; `*` for all names in the domain; for PTR also an address',
  }),
  domain: text(1020)
    .optional()
    .meta({ description: 'domain of `hostname`; by default dns.local_domain if hostname is a single label' }),
  fqdn: text(1020)
    .optional()
    .meta({ description: 'the full name of the record, instead of hostname and domain' }),
  record_type: RecordType.optional().meta({
    description: 'type of the record; can be left out if the value is an address',
  }),
  value: text(MAX_VALUE_LENGTH).optional(),
  ip: text(100).nullable().optional().meta({ description: 'an address, instead of `value`; null = absent' }),
};

export const LocalRecordCreateBody = z
  .strictObject({ ...written, ttl: Ttl.default(DEFAULT_LOCAL_TTL_SECS), comment: Comment.default('') })
  .meta({
    id: 'LocalRecordCreate',
    examples: [{ hostname: 'printer', domain: 'home.arpa', value: '192.0.2.80', ttl: 300 }],
  });

/** Absent fields keep their value. */
export const LocalRecordUpdateBody = z
  .strictObject({ ...written, ttl: Ttl.optional(), comment: Comment.optional() })
  .meta({ id: 'LocalRecordUpdate', examples: [{ value: '192.0.2.81' }] });
export type LocalRecordUpdate = z.output<typeof LocalRecordUpdateBody>;
