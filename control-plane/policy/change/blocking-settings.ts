import type { BlockingModeName } from '../../../shared/snapshot/policy-table.ts';

/** The section `blocking` of the configuration: how blocked queries are answered. */
export interface BlockingSettings {
  readonly enabled: boolean;
  readonly mode: BlockingModeName;
  readonly ttlSecs: number;
  /** Address literals of the mode `custom_ip`; empty = NODATA for queries of that address family. */
  readonly customIpv4: string;
  readonly customIpv6: string;
}
