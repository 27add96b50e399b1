/** Objects as importers add them to the plan, before validation. */
import type { Thing } from './import-plan.ts';

/** Names of groups; null = every group. */
type Groups = readonly string[] | null;

/** A list source in another program. */
export interface GivenSource extends Pick<
  Thing<'list_sources'>,
  'kind' | 'url' | 'name' | 'enabled' | 'comment' | 'subdomains'
> {
  readonly groups: Groups;
}

/** A managed domain or a regex filter. */
export interface GivenRule {
  readonly table: 'managed_domains' | 'regex_filters';
  /** The domain or the pattern. */
  readonly text: string;
  readonly action: 'allow' | 'deny';
  readonly groups: Groups;
  readonly comment: string;
  readonly enabled: boolean;
}

/** A client, identified by its MAC; without a MAC, by its address; without both, by its key. */
export interface GivenClient {
  readonly mac: string | null;
  readonly ip: string | null;
  /** Client key; null if the client has a MAC or an address. */
  readonly key: string | null;
  readonly name: string | null;
  /** Name of the group; null = the group of the client's subnet. */
  readonly group: string | null;
  /** Whether the client's queries are excluded from the log, or from statistics; absent = no. */
  readonly excludeFromLog?: boolean;
  readonly excludeFromStats?: boolean;
}

/** A service that is blocked for a group. */
export interface GivenService {
  readonly serviceId: string;
  /** Id in Weir's catalog; null if it is the same. */
  readonly ownId: string | null;
  readonly group: string;
  /** Schedule profile with the times at which the service is blocked; null = always. */
  readonly profile?: string | null;
}

/** Times of a week at which services are blocked. */
export interface GivenTimes {
  readonly name: string;
  readonly timeZone: string;
  /** Days as bits, Monday 1; `start` and `end` are minutes since midnight. */
  readonly slots: readonly { readonly days: number; readonly start: number; readonly end: number }[];
}
