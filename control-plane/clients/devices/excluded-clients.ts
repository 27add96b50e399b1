/**
 * Converts clients whose queries are excluded from the log or from statistics to the form that the directory and
 * discovery need. Pure.
 */
import { Exclusion } from '../../../shared/query-log.ts';
import type { PolicyMacClient, PolicyRows } from '../../policy/change/rows.ts';
import type { ClientRecord } from './client-record.ts';

/** The rows with exclusions; an absent list is empty. */
export type ExclusionRows = Partial<Pick<PolicyRows, 'excludedClients' | 'keyedClients'>>;

/** MACs, addresses and ids of the clients that statistics exclude. */
export class UncountedClients {
  private readonly known: ReadonlySet<string | number>;

  constructor({ excludedClients = [], keyedClients = [] }: ExclusionRows = {}) {
    const isUncounted = ({ exclusion = Exclusion.NONE }: { readonly exclusion?: number }): boolean =>
      (exclusion & Exclusion.STATS) !== 0;
    this.known = new Set([
      ...excludedClients.filter(isUncounted).map(({ mac, address }) => mac ?? address!),
      ...keyedClients.filter(isUncounted).map(({ clientId }) => clientId),
    ]);
  }

  has({ id, mac, ip }: Pick<ClientRecord, 'id' | 'mac' | 'ip'>): boolean {
    return this.known.has(mac ?? ip ?? '') || this.known.has(id ?? '');
  }
}

/**
 * Excluded clients that are identified by MAC. Instead of a group, they have a number that is not the id of a group and
 * that differs for each exclusion.
 */
export function excludedMacs(excluded: PolicyRows['excludedClients']): PolicyMacClient[] {
  return excluded.flatMap(({ mac, exclusion }) => (mac === null ? [] : { mac, groupId: -exclusion / 4 }));
}
