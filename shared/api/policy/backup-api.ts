/**
 * The file of `{api}/backup` and the response of `{api}/restore`. In the file, objects refer to each other by names,
 * not by ids, so that the file can be restored on another node. A kind that is missing in a file is left unchanged.
 */
import { z } from 'zod';
import { canonicalDomain } from '../../policy/domain-rule.ts';
import { Role } from '../auth-api.ts';
import { label, text, Timestamp } from '../fields.ts';
import { TokenCreateBody } from '../tokens-api.ts';
import { UserCreateBody } from '../users-api.ts';
import { ClientCreateBody, ClientSubnetCreateBody } from './clients-api.ts';
import { ForwardZoneCreateBody } from './forward-zones-api.ts';
import { GroupCreateBody } from './groups-api.ts';
import { LocalRecordCreateBody } from './local-records-api.ts';
import { ManagedDomainCreateBody, RegexFilterCreateBody, StoredPattern } from './rules-api.ts';
import { SAFE_SEARCH_ENGINES } from './safe-search-api.ts';
import { ScheduleProfileCreateBody, ScheduleSlotCreateBody } from './schedules-api.ts';
import { CustomServiceCreateBody, ServiceId } from './services-api.ts';
import { SourceCreateBody, Url } from './sources-api.ts';
import { CustomText } from './custom-text-api.ts';
import { DnsSettingsBody } from '../settings-api.ts';
import { Passphrase, SealedSecrets } from './sealed-secrets-api.ts';

/** Version of the file format that this Weir writes; Weir does not read newer versions. */
export const BACKUP_VERSION = 2;

const GroupName = label(100);
/** Name of a group. Null = every group; for a client, no group. */
const GroupOrNull = GroupName.nullable().default(null);

const Group = z.strictObject({ ...GroupCreateBody.shape, is_default: z.boolean().default(false) });

const { group_id: _group, ...clientShape } = ClientCreateBody.shape;
const Client = z
  .strictObject({
    ...clientShape,
    group: GroupOrNull,
    device: text(64)
      .nullable()
      .default(null)
      .meta({
        description:
          'MAC address, address or key of the client that this one is part of, whose name, group and ' +
          'exclusions apply',
        examples: [null],
      }),
  })
  .superRefine((client, context) => {
    const { ip_address: address, mac_address: hardware, client_key: ownKey, name, group, device } = client;
    if (device !== null && ((name ?? group) !== null || client.exclude_from_log || client.exclude_from_stats))
      context.addIssue({
        code: 'custom',
        path: ['device'],
        message: 'expected null, because it has its own settings',
      });
    if (address !== null || hardware !== null || ownKey !== null) return;
    const message = 'expected an address, a MAC or a key';
    context.addIssue({ code: 'custom', path: ['ip_address'], message });
  })
  .meta({
    description:
      'identifier of the client: its MAC address; without one, its IP address; without either, its key',
  });

const { subnet_cidr: cidr, comment } = ClientSubnetCreateBody.shape;
const Subnet = z.strictObject({ subnet_cidr: cidr, comment, group: GroupName });

const { group_ids: _ids, url: _url, text: _text, ...source } = SourceCreateBody.shape;
const TextUrl = z.string().regex(/^text:[\w-]{1,200}$/, 'expected text: and a name');
const Source = z.strictObject({
  kind: z.enum(['block', 'allow']),
  ...source,
  url: z
    .union([Url, TextUrl])
    .meta({ description: 'URL of the list, or `text:` followed by a name for custom rules' }),
  text: CustomText.nullable()
    .default(null)
    .meta({ description: 'the custom rules; null for a list with a URL' }),
  groups: z.array(GroupName).max(10_000).default([]),
});

const { group_id: _domainGroup, ...managedDomain } = ManagedDomainCreateBody.shape;
const ManagedDomain = z.strictObject({ ...managedDomain, name: label(200), group: GroupOrNull });
const { group_id: _filterGroup, ...regexFilter } = RegexFilterCreateBody.shape;
const RegexFilter = z.strictObject({
  ...regexFilter,
  pattern: StoredPattern,
  name: label(200),
  group: GroupOrNull,
});

const CustomService = z.strictObject({
  service_id: ServiceId.refine(
    (id) => id.startsWith('custom-'),
    'expected an id that starts with custom-',
  ).meta({ examples: ['custom-my-games'] }),
  ...CustomServiceCreateBody.shape,
});
const ProfileName = label(100);
const BlockedService = z.strictObject({
  service_id: ServiceId,
  group: GroupName,
  profile: ProfileName.nullable()
    .default(null)
    .meta({
      description:
        'schedule profile during whose block_all slots the service is blocked; null = at all times',
      examples: [null],
    }),
});

const SafeSearch = z.strictObject({
  group: GroupName,
  engine: z.enum(SAFE_SEARCH_ENGINES),
  enabled: z.boolean(),
  youtube_mode: z.enum(['strict', 'moderate']).default('strict'),
});

const ScheduleProfile = z.strictObject({
  ...ScheduleProfileCreateBody.shape,
  slots: z.array(ScheduleSlotCreateBody).max(10_000).default([]),
});
const GroupSchedule = z.strictObject({ group: GroupName, profile: ProfileName });

const { fqdn: _fqdn, ip: _ip, ...record } = LocalRecordCreateBody.shape;
const LocalRecord = z.strictObject(record);

const DnsSettings = z.strictObject({
  never_forward_non_fqdn: z.boolean().nullable().default(null),
  never_forward_reverse_lookups: z.boolean().nullable().default(null),
  local_domain: DnsSettingsBody.shape.local_domain.unwrap().nullable().default(null),
  local_dns_server: DnsSettingsBody.shape.local_dns_server.unwrap().nullable().default(null),
});

/** An Argon2id hash whose cost is acceptable for a login. */
const PasswordHash = z
  .string()
  .max(512)
  .regex(
    /^\$argon2id\$v=\d+\$(?:m=\d{1,6}|t=\d{1,2}|p=\d)(?:,(?:m=\d{1,6}|t=\d{1,2}|p=\d)){2}\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/,
    'expected an Argon2id hash',
  );
const { username, display_name: displayName } = UserCreateBody.shape;
const BackedUpUser = z
  .strictObject({
    username,
    display_name: displayName,
    role: Role,
    enabled: z.boolean().default(true),
    password_hash: PasswordHash.nullable()
      .default(null)
      .meta({ examples: [null] }),
  })
  .meta({
    description: 'a user; without password_hash an existing user keeps the password, and a new user has none',
  });

const ClientName = text(64).meta({ description: 'MAC address, IP address or key of a client' });

const BackedUpUserClient = z.strictObject({ username, client: ClientName }).meta({
  description: 'a client of a user with the role family; not restored if the client is unknown',
  examples: [{ username: 'frida', client: '192.0.2.10' }],
});

/** The confirmed second factor of a user, and the SHA-256 hashes of the recovery codes. */
const Factor = z.strictObject({
  secret: z.string().regex(/^(?:[0-9a-f]{2}){10,128}$/, 'expected 10 to 128 bytes in hexadecimal digits'),
  recovery_codes: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 hash'))
    .max(100)
    .default([]),
});
const BackedUpFactor = z
  .strictObject({
    username,
    factor: Factor.nullable()
      .default(null)
      .meta({ examples: [null] }),
  })
  .meta({ description: 'the second factor of a user; if absent, the stored second factor is kept' });

const BackedUpCertificate = z.strictObject({
  name: z.literal('web'),
  cert: text(64 * 1024).meta({ description: 'the certificate chain in PEM' }),
  key: text(16 * 1024)
    .nullable()
    .default(null)
    .meta({
      description: 'the private key in PEM; a certificate without a key is not restored',
      examples: [null],
    }),
});

const ConfigValues = z.record(z.string().max(200), z.unknown()).meta({ examples: [{}] });

const BackedUpToken = z
  .strictObject({
    name: TokenCreateBody.shape.name,
    role: Role,
    prefix: text(8),
    created_at: Timestamp,
    key_hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 hash')
      .nullable()
      .default(null)
      .meta({ examples: [null] }),
  })
  .meta({
    description:
      'an API token; a token that does not exist is restored only with key_hash, because a backup does ' +
      'not contain the key itself',
  });

const BackedUpGrant = z
  .strictObject({
    domain: z
      .string()
      .max(1020)
      .refine((name) => canonicalDomain(name) === name, 'expected a domain name in lower case')
      .nullable(),
    service_id: ServiceId.nullable().default(null),
    subdomains: z.boolean().default(true),
    client: ClientName.nullable(),
    group: GroupOrNull,
    action: z.enum(['allow', 'block']),
    until: Timestamp.nullable().meta({ description: 'end of the grant; null = no end' }),
  })
  .refine(({ client, group }) => client === null || group === null, {
    path: ['client'],
    message: 'expected client, group, or neither, but not both',
  })
  .refine(({ domain, service_id: service }) => domain === null || service === null, {
    path: ['domain'],
    message: 'expected either domain or service_id, or neither',
  })
  .meta({
    description: 'a grant; not restored if it has expired or its client is unknown',
    examples: [
      {
        domain: 'games.example.org',
        service_id: null,
        subdomains: true,
        client: '192.0.2.10',
        group: null,
        action: 'allow',
        until: '2026-01-15T12:00:00.000Z',
      },
    ],
  });

const Version = z
  .int()
  .min(1)
  .superRefine((version, context) => {
    if (version <= BACKUP_VERSION) return;
    context.addIssue(
      `made by a newer version of Weir: the backup has format ${version}, this version reads up to ${BACKUP_VERSION}`,
    );
  });

/** A backup to restore. */
export const BackupFile = z
  .strictObject({
    format: z.literal('weir-backup'),
    version: Version.meta({ examples: [BACKUP_VERSION] }),
    created_at: Timestamp,
    weir: text(100).meta({ description: 'version of Weir that made the backup' }),
    node: text(255).meta({ description: 'the node that made the backup' }),
    has_secrets: z.boolean().meta({
      description:
        'whether the file contains credentials in URLs (otherwise ***), hashes of passwords and keys, ' +
        'second factors, and private keys of certificates',
    }),
    groups: z.array(Group).optional(),
    clients: z.array(Client).optional().meta({ description: 'clients with a name, group or key' }),
    client_subnets: z.array(Subnet).optional(),
    list_sources: z.array(Source).optional(),
    managed_domains: z.array(ManagedDomain).optional(),
    regex_filters: z.array(RegexFilter).optional(),
    custom_services: z.array(CustomService).optional(),
    safe_search: z.array(SafeSearch).optional(),
    schedule_profiles: z.array(ScheduleProfile).optional(),
    blocked_services: z.array(BlockedService).optional(),
    group_schedules: z.array(GroupSchedule).optional(),
    local_records: z.array(LocalRecord).optional(),
    forward_zones: z.array(ForwardZoneCreateBody).optional(),
    configuration: ConfigValues.optional().meta({
      description:
        'keys of the configuration of the whole cluster whose values differ from the defaults; a restore ' +
        'resets all other keys to their defaults',
      examples: [{ 'blocking.mode': 'nxdomain' }],
    }),
    node_configuration: ConfigValues.optional().meta({
      description: 'configuration keys of the node that made the backup, for information; never restored',
    }),
    dns_settings: DnsSettings.optional().meta({ description: 'DNS settings, in files of version 1 only' }),
    users: z
      .array(BackedUpUser)
      .max(1000)
      .optional()
      .meta({ description: 'all users except the administrator of the configuration' }),
    user_clients: z
      .array(BackedUpUserClient)
      .max(100_000)
      .optional()
      .meta({ description: 'the clients of users with the role family' }),
    second_factors: z
      .array(BackedUpFactor)
      .max(1000)
      .optional()
      .meta({ description: 'second factors of the users in the file' }),
    certificates: z
      .array(BackedUpCertificate)
      .max(1)
      .optional()
      .meta({ description: 'the certificate of the web server; left out if it is self-signed' }),
    api_tokens: z.array(BackedUpToken).max(1000).optional(),
    grants: z.array(BackedUpGrant).max(10_000).optional().meta({ description: 'active grants' }),
    secrets: SealedSecrets.optional(),
  })
  .meta({ id: 'Backup' });
export type BackupFile = z.output<typeof BackupFile>;
/** A backup as written in a file. */
export type BackupText = z.input<typeof BackupFile>;

const Switch = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')
  .meta({ type: 'boolean' });
export const BackupQuery = z.object({
  secrets: z
    .literal('false', 'expected false: POST /backup with a passphrase makes a backup with secrets')
    .optional()
    .meta({ description: 'always false; to get a backup with secrets, use POST /backup' }),
});
/** The body of a request for a backup with secrets. */
export const BackupBody = z
  .strictObject({
    passphrase: Passphrase.meta({
      description: 'passphrase of at least 12 characters with which the secrets are encrypted',
    }),
  })
  .meta({ id: 'BackupRequest' });
/** A backup with the passphrase of its secrets. */
export const RestoreBody = z
  .strictObject({
    ...BackupFile.shape,
    passphrase: text(1024).optional().meta({ description: 'passphrase of a backup with secrets' }),
  })
  .meta({ id: 'RestoreRequest' });
export const RestoreQuery = z.object({
  dry_run: Switch.meta({ type: 'boolean', description: 'only reports the changes, and makes none' }),
});

const Names = z.strictObject({
  count: z.int().min(0),
  names: z.array(z.string()).meta({ description: 'names of the first 1,000 objects' }),
});
/** Reason why an object in a file is not restored. */
export const LEFT_OUT = ['key_not_in_backup', 'over', 'client_not_known', 'is_administrator'] as const;
const LeftOut = z.strictObject({ kind: z.string(), name: z.string(), reason: z.enum(LEFT_OUT) });

/** Changes that a restore makes. */
export const RestoreAnswer = z
  .strictObject({
    dry_run: z.boolean(),
    revision: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'the revision that the restore created; null = nothing changed' }),
    changes: z
      .array(z.strictObject({ kind: z.string(), created: Names, changed: Names, removed: Names }))
      .meta({ description: 'changes by kind of object; kinds without changes are left out' }),
    left_out: z.array(LeftOut).meta({ description: 'objects in the file that are not restored' }),
  })
  .meta({ id: 'RestoreAnswer' });
export type RestoreAnswer = z.infer<typeof RestoreAnswer>;
