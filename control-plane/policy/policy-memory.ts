/**
 * The policy tables as last read, with their versions. A table that has not changed is not read again and keeps its
 * arrays, so that builders recognise unchanged input by identity.
 */
import type { TableVersions } from './policy-position.ts';
import type { PolicyBlockedService, PolicyRows, PolicyTimes } from './rows.ts';

/** The catalog's entry of a service; undefined for an unknown id. */
export type FindService = (
  serviceId: string,
) => Pick<PolicyBlockedService, 'serviceName' | 'domains' | 'exact'> | undefined;

/** A service that is blocked for a group, as the database knows it. */
export interface StoredBlock {
  readonly serviceId: string;
  readonly groupId: number;
  /** Of custom services, else null. */
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
  | 'subnets'
> {
  readonly services: readonly StoredBlock[];
}

/** Caches the rows of the policy tables. One per node. */
export class PolicyMemory {
  private known: TableVersions = {};
  private rows: Partial<KeptRows> = {};
  private blocks: { readonly of: readonly StoredBlock[]; readonly rows: PolicyBlockedService[] } | undefined;

  /** Of the rows that it has. */
  versions(): TableVersions {
    return this.known;
  }

  /** Merges what was read, null = unchanged; returns the complete current state. */
  take(
    versions: TableVersions,
    read: { readonly [Name in keyof KeptRows]: KeptRows[Name] | null },
  ): KeptRows {
    const changed = Object.entries(read).filter(([, rows]) => rows !== null);
    this.rows = { ...this.rows, ...Object.fromEntries(changed) };
    this.known = versions;
    return this.rows as KeptRows;
  }

  /**
   * Names of the services that are blocked; one that no catalog of this node ever had blocks nothing until one has it.
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
