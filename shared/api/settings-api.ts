/** Requests and responses of `{api}/settings` (how names of the local network are looked up) and of `{api}/config`. */
import { z } from 'zod';
import { FILE_ONLY_KEYS } from '../policy/file-only-keys.ts';
import { canonicalDomain } from '../policy/domain-rule.ts';
import { text } from './fields.ts';

const LocalDomain = text(1020)
  .transform((value, context) => {
    const domain = value.trim() === '' ? '' : canonicalDomain(value);
    if (domain !== null) return domain;
    context.addIssue('expected a domain name such as home.arpa, or an empty string');
    return z.NEVER;
  })
  .meta({
    description:
      'domain of the local network, which is forwarded to local_dns_server and may have private ' +
      'addresses; empty = none',
  });

/** An upstream server; the route checks the syntax. */
const LocalDnsServer = text(300)
  .transform((value) => value.trim())
  .meta({
    description:
      'server as host:port, which is asked for local_domain and the reverse zones of private addresses; ' +
      'empty = none',
    examples: ['192.0.2.1:53'],
  });

export const DnsSettings = z
  .strictObject({
    never_forward_non_fqdn: z.boolean(),
    never_forward_reverse_lookups: z.boolean(),
    local_domain: z.string(),
    local_dns_server: z.string(),
  })
  .meta({ id: 'DnsSettings' });
export type DnsSettings = z.infer<typeof DnsSettings>;

/** Absent fields keep their value. */
export const DnsSettingsBody = z
  .strictObject({
    never_forward_non_fqdn: z.boolean().optional(),
    never_forward_reverse_lookups: z.boolean().optional(),
    local_domain: LocalDomain.optional(),
    local_dns_server: LocalDnsServer.optional(),
  })
  .meta({ id: 'DnsSettingsUpdate' });
export type DnsSettingsChange = z.output<typeof DnsSettingsBody>;

/** Keys that take effect after a restart; a test compares them with the table of keys. */
export const RESTART_KEYS = [
  ...['server.web_port', 'server.alt_compat', 'server.dns_port', 'server.bind_address', 'server.workers'],
  ...['server.node_name', 'server.site', 'server.start_unfiltered', 'server.data_dir'],
  ...['server.trusted_proxies', 'server.proxy_protocol_enabled', 'server.proxy_protocol_trusted'],
  ...['server.web_tls.enabled', 'server.web_tls.tls_cert_path', 'server.web_tls.tls_key_path'],
  ...['server.encrypted_dns.dot_enabled', 'server.encrypted_dns.dot_port'],
  ...['server.encrypted_dns.doh_enabled', 'server.encrypted_dns.doh_port'],
  ...['server.encrypted_dns.tls_cert_path', 'server.encrypted_dns.tls_key_path'],
  ...['database.url', 'database.owner_url', 'database.password_file', 'database.owner_password_file'],
  ...['database.sslmode', 'database.sslrootcert'],
  ...['cache.max_bytes', 'logging.dnstap'],
];

/** The sections of the TOML file, each with this schema. */
const sectionsOf = <S extends z.ZodType>(of: S) =>
  ({ server: of, dns: of, blocking: of, cache: of, logging: of, database: of, auth: of }) as const;

const Section = z.record(z.string(), z.unknown());

const Keys = z.array(z.string()).meta({ description: 'keys whose new values take effect after a restart' });

/** The stored configuration, with keys as in the TOML file; secrets are left out. */
export const ConfigAnswer = z
  .strictObject({
    ...sectionsOf(Section),
    sources: z.record(z.string(), z.enum(['default', 'file', 'local_file', 'environment', 'database'])).meta({
      description:
        'source of the value of each key: the file of this node, weir.local.toml in its data directory for changes that could not be written to the file, the database for keys of the whole cluster, or the environment, which has precedence',
    }),
    restart_required: Keys,
  })
  .meta({ id: 'Config' });
export type ConfigAnswer = z.infer<typeof ConfigAnswer>;

/** The route checks keys and values with the schema of the configuration, which reports every error. */
const GivenSection = z
  .unknown()
  .meta({ override: { type: 'object', additionalProperties: true } })
  .optional();

export const ConfigBody = z
  .strictObject({
    ...sectionsOf(GivenSection),
  })
  .meta({
    id: 'ConfigUpdate',
    description:
      'Keys as in the TOML file, by section; a list is replaced as a whole, and null resets a key to its ' +
      'default. Changes are active when the response is sent, except for the following keys, which need a ' +
      `restart: ${RESTART_KEYS.join(', ')}. Keys of server, logging, database.url, database.owner_url, ` +
      'database.sslmode, cache.max_bytes and paths apply to this node, all others to the whole cluster. ' +
      'auth.admin.password_hash, auth.oidc.client_secret_file, blocking.list_dirs, ' +
      `${FILE_ONLY_KEYS.join(', ')} cannot be changed by this operation.`,
    examples: [{ blocking: { ttl_secs: 20 } }],
  });

/** `force`: also stores pools in which no server answers. */
export const ConfigQuery = z.object({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({ type: 'boolean', description: 'also stores pools in which no server responds' }),
});

export const ConfigChanged = z
  .strictObject({ success: z.literal(true), restart_required: Keys })
  .meta({ id: 'ConfigChanged' });
