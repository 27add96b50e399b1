/** Settings that follow from the configuration but are not written in it as they are used. */
import { hostname } from 'node:os';
import type { Config } from '../../config/schema.ts';
import type { BlockingSettings } from '../snapshot/compiled-rules.ts';

/** Name of this node: `server.node_name`, or the host's. */
export function nodeNameOf(config: Config): string {
  return config.server.node_name === '' ? hostname() : config.server.node_name;
}

/** How blocked queries are answered. */
export function blockingSettings({ blocking }: Config): BlockingSettings {
  return {
    enabled: blocking.enabled,
    mode: blocking.mode,
    ttlSecs: blocking.ttl_secs,
    customIpv4: blocking.custom_ipv4,
    customIpv6: blocking.custom_ipv6,
  };
}
