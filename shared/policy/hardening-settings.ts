/** How queries to upstreams over UDP are protected beyond random ports and ids. */

/**
 * Servers for which a protection is used: `auto`: servers that are known to support it; `on`: all servers; `off`: none.
 */
export const HARDENING_MODES = ['auto', 'on', 'off'] as const;
export type HardeningMode = (typeof HARDENING_MODES)[number];

/** The two protections. */
export interface HardeningSettings {
  /** DNS cookies (RFC 7873). */
  readonly cookies: HardeningMode;
  /** Letters of names in random case (draft-vixie-dnsext-dns0x20). */
  readonly caseRandomization: HardeningMode;
}

/** Default settings. */
export const DEFAULT_HARDENING: HardeningSettings = { cookies: 'auto', caseRandomization: 'auto' };

/** Findings about a feature of a server. */
export const FINDINGS = [
  'unknown',
  'supported',
  /** The server does not support the feature, such as cookies or EDNS. */
  'unsupported',
  /** The server changes data that it should repeat: the case of the name, or the cookie. */
  'altered',
  /** The server refuses queries with the feature, or TCP connections. */
  'refused',
  /** The server does not answer queries with the feature. */
  'silent',
] as const;
export type Finding = (typeof FINDINGS)[number];

/** Known features of one server. */
export interface ServerSupport {
  readonly edns: Finding;
  readonly cookies: Finding;
  readonly case: Finding;
  readonly tcp: Finding;
  /** Answers per connection; null = no limit was seen. */
  readonly answersPerConnection: number | null;
}

/** Features of a server that has not been queried yet. */
export const NOTHING_KNOWN: ServerSupport = {
  edns: 'unknown',
  cookies: 'unknown',
  case: 'unknown',
  tcp: 'unknown',
  answersPerConnection: null,
};
