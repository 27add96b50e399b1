/** Limits for tests. */
import type { RateLimitSettings } from '../../../shared/policy/rate-limit-settings.ts';

/** A limit of ten questions per second with bursts of five, with the given changes. */
export function rateLimitOf(change: Partial<RateLimitSettings>): RateLimitSettings {
  return {
    enabled: true,
    queriesPerSecond: 10,
    burstSize: 5,
    ipv4PrefixLength: 24,
    ipv6PrefixLength: 48,
    whitelist: [],
    nxdomainPerSecond: 2,
    slipRatio: 0,
    dryRun: false,
    ...change,
  };
}
