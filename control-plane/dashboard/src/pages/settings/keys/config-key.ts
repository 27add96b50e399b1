/** Keys of the configuration: their descriptions and values, and the requests that change them. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import table from './config-keys.json' with { type: 'json' };

/** The sections of the configuration, as in its file. */
export const CONFIG_SECTIONS = ['server', 'dns', 'blocking', 'cache', 'database', 'logging', 'auth'] as const;
export type ConfigSection = (typeof CONFIG_SECTIONS)[number];

/** Kind of control that edits a key. Nested tables are edited on other pages. */
export type KeyKind = 'switch' | 'number' | 'choice' | 'list' | 'text' | 'table';

/** A key in the form in which `config/sections.ts` describes it. */
export interface ConfigKey {
  readonly key: string;
  readonly kind: KeyKind;
  readonly help: string;
  readonly default?: unknown;
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  readonly restart?: boolean;
  /** Whether the API never returns the value. */
  readonly secret?: boolean;
}

/** The configuration with the source of each value. */
export type Config = AnswerOf<'GET /config'>;

/** All keys, in the order of the file. */
export const CONFIG_KEYS = table as readonly ConfigKey[];

/** Keys that home users change; all others are for experts. */
export const BASIC_KEYS: readonly string[] = [
  ...['server.web_port', 'server.dns_port', 'server.node_name', 'server.allowed_hosts'],
  ...['server.web_tls.enabled', 'server.encrypted_dns.dot_enabled', 'server.encrypted_dns.doh_enabled'],
  ...['dns.pools', 'dns.allowed_clients', 'dns.blocked_clients', 'dns.local_domain', 'dns.local_dns_server'],
  ...['dns.dhcp_leases', 'dns.dnssec_enabled', 'dns.rebinding_protection', 'dns.rebinding_allowlist'],
  ...['dns.block_doh_canary', 'dns.block_private_relay', 'dns.rate_limit.enabled'],
  ...['blocking.enabled', 'blocking.mode', 'blocking.custom_ipv4', 'blocking.custom_ipv6'],
  ...['blocking.list_refresh_hours', 'blocking.unblock_requests', 'cache.enabled', 'cache.max_bytes'],
  'cache.serve_stale_secs',
  ...['database.log_queries', 'database.query_log_days', 'database.query_log_privacy'],
  ...['database.log_excluded_domains', 'database.stats_excluded_domains', 'database.rollup_days'],
  ...['logging.level', 'auth.enabled', 'auth.session_ttl_hours', 'auth.remember_me_days'],
];

/** Whether home users change the key. */
export function isBasic({ key }: ConfigKey): boolean {
  return BASIC_KEYS.includes(key);
}

export function sectionOf({ key }: ConfigKey): ConfigSection {
  return key.slice(0, key.indexOf('.')) as ConfigSection;
}

/** The value of a key; undefined for a secret. */
export function valueOf(config: Config, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((place, name) => (place as Record<string, unknown> | undefined)?.[name], config);
}

/** Body of a request that changes one key; null resets the key to its default. */
export function changeOf(key: string, value: unknown): Record<string, unknown> {
  return key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<
    string,
    unknown
  >;
}

/**
 * Keys whose name or help contains every search word, ignoring case; `helpOf` returns the help in the user's language.
 */
export function findKeys(search: string, helpOf: (entry: ConfigKey) => string): readonly ConfigKey[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return CONFIG_KEYS.filter((entry) => {
    const { key, help } = entry;
    const text = `${key} ${key.replaceAll(/[._]/g, ' ')} ${help} ${helpOf(entry)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A value as text, for a field. */
export function textOfValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOfValue).join('\n');
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The value that a field's text means. An invalid number stays a string, so that the server reports the error. */
export function valueOfText({ kind }: ConfigKey, text: string): unknown {
  if (kind === 'list')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  const trimmed = text.trim();
  if (kind === 'number') return /^-?\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
  return trimmed;
}
