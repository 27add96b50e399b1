/** Limits for the queries of a client network. */

/** The keys of `dns.rate_limit` in the form that DNS threads use. */
export interface RateLimitSettings {
  readonly enabled: boolean;
  readonly queriesPerSecond: number;
  readonly burstSize: number;
  readonly ipv4PrefixLength: number;
  readonly ipv6PrefixLength: number;
  /** Networks that are never limited, as CIDR text. */
  readonly whitelist: readonly string[];
  readonly nxdomainPerSecond: number;
  /** Every Nth limited answer over UDP is truncated; 0 = no answer is truncated. */
  readonly slipRatio: number;
  readonly dryRun: boolean;
}
