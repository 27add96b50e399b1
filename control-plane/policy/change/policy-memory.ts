/**
 * The policy tables as last read, with their versions. A table that has not changed is not read again and keeps its
 * arrays, so that builders recognise unchanged input by identity.
 */
import type { TableVersions } from '../../storage/cluster/policy-position.ts';
import { withChanges } from './row-differences.ts';
import type { PolicyBlockedService, PolicyRows, PolicyTimes } from './rows.ts';

/** Finds a service in the catalog; undefined for an unknown id. */
export type FindService = (
  serviceId: string,
) => Pick<PolicyBlockedService, 'serviceName' | 'domains' | 'exact'> | undefined;

/** A service that is blocked for a group, as stored in the database. */
export interface StoredBlock {
  readonly serviceId: string;
  readonly groupId: number;
  /** Name of a custom service; null for a built-in one. */
  readonly name: string | null;
  readonly domains: readonly string[] | null;
  readonly times: PolicyTimes | null;
}

/** Rows that are read only when they have changed. */
export interface KeptRows extends Pick<
  PolicyRows,
  | 'groups'
  | 'sources'
  | 'managedDomains'
  | 'regexFilters'
  | 'forwardZones'
  | 'localRecords'
  | 'schedules'
  | 'safeSearch'
  | 'grants'
  | 'clients'
  | 'macClients'
  | 'keyedClients'
  | 'excludedClients'
  | 'subnets'
> {
  readonly services: readonly StoredBlock[];
}

/** Managed domains that were changed: the ids of all, and the rows of those that now exist and are enabled. */
export interface ManagedChanges {
  readonly ids: readonly number[];
  readonly rows: PolicyRows['managedDomains'];
}

/** Caches the rows of the policy tables. One per node. */
export class PolicyMemory {
  private known: TableVersions = {};
  private place = '';
  private rows: Partial<KeptRows> = {};
  private blocks: { readonly of: readonly StoredBlock[]; readonly rows: PolicyBlockedService[] } | undefined;

  /** Versions of the rows in memory. */
  versions(): TableVersions {
    return this.known;
  }

  /**
   * The position in the log of changed rows up to which the managed domains in memory are current, see
   * `policy-store.ts`; '' = none.
   */
  tip(): string {
    return this.place;
  }

  /**
   * Merges the rows that were read (null = unchanged), and returns the complete current state. `changes` are the
   * changes of managed domains since the previous position, if only these were read instead of the whole table.
   */
  take(
    versions: TableVersions,
    all: { readonly [Name in keyof KeptRows]: KeptRows[Name] | null },
    { tip, changes }: { readonly tip: string; readonly changes: ManagedChanges | null },
  ): KeptRows {
    const managedDomains =
      changes === null ? all.managedDomains : withChanges(this.rows.managedDomains ?? [], changes);
    const read = { ...all, managedDomains };
    this.place = tip;
    const changed = Object.entries(read).filter(([, rows]) => rows !== null);
    this.rows = { ...this.rows, ...Object.fromEntries(changed) };
    this.known = versions;
    return this.rows as KeptRows;
  }

  /**
   * Adds the catalog's domains to the blocked services. A service that was never in a catalog of this node blocks
   * nothing until a catalog contains it.
   */
  resolve(services: readonly StoredBlock[], findService: FindService): readonly PolicyBlockedService[] {
    const rows = services.flatMap(({ serviceId, groupId, name, domains, times }) => {
      const service =
        name === null ? findService(serviceId) : { serviceName: name, domains: domains ?? [], exact: [] };
      return service === undefined ? [] : [{ serviceId, groupId, ...service, times }];
    });
    const before = this.blocks?.of === services ? this.blocks.rows : undefined;
    if (before?.length === rows.length && before.every((row, index) => isSame(row, rows[index]!)))
      return before;
    this.blocks = { of: services, rows };
    return rows;
  }
}

function isSame(a: PolicyBlockedService, b: PolicyBlockedService): boolean {
  if (a.serviceId !== b.serviceId || a.serviceName !== b.serviceName || a.domains !== b.domains) return false;
  return a.exact === b.exact || a.exact.length + b.exact.length === 0;
}

/**
 * Adds the catalog's domains to grants for built-in services; grants for custom services are stored with their domains.
 * Returns the same array if there are no built-in services.
 */
export function resolveGrants(grants: PolicyRows['grants'], findService: FindService): PolicyRows['grants'] {
  if (grants.every(({ serviceId }) => serviceId === undefined)) return grants;
  return grants.map((grant) => {
    const { serviceId, service } = grant;
    if (serviceId === undefined || service !== undefined) return grant;
    const found = findService(serviceId);
    return found === undefined ? grant : { ...grant, service: found };
  });
}
