import type { BlockingModeName } from '../../../shared/snapshot/policy-table.ts';

/** How to answer blocked queries; the section `blocking` of the configuration. */
export interface BlockingSettings {
  readonly enabled: boolean;
  readonly mode: BlockingModeName;
  readonly ttlSecs: number;
  /** Address literals of the mode `custom_ip`; empty = NODATA for that family. */
  readonly customIpv4: string;
  readonly customIpv6: string;
}
