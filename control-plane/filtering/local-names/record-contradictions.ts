/**
 * Finds local records that contradict each other: a CNAME and another record with the same name, or a loop of aliases.
 */
import type { WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { buildLocalTree, findAliasLoop } from '../../policy/snapshot/build/local-tree.ts';
import { localRecords } from '../../policy/snapshot/build/snapshot-records.ts';
import * as store from './record-store.ts';
import type { StoredRecord } from './record-store.ts';

/** A contradiction of one of the checked records. */
export interface Contradiction {
  readonly index: number;
  readonly message: string;
}

/**
 * Finds contradictions between the given stored records and each other, other stored records, or records of the
 * configuration.
 */
export async function contradictionsOf(
  tx: Queryable,
  configRecords: readonly WrittenLocalRecord[],
  changed: readonly StoredRecord[],
): Promise<Contradiction[]> {
  const stored = (await store.listRecords(tx)).map((record) => ({
    ...record,
    type: record.record_type,
    ttlSecs: record.ttl,
  }));
  const byName = Map.groupBy(
    [...configRecords.map((record) => ({ ...record, id: null })), ...stored],
    ({ fqdn }) => fqdn,
  );
  const found = changed.flatMap(({ id, fqdn, record_type: type }, index): Contradiction[] => {
    const others = byName.get(fqdn)!.filter((other) => other.id !== id);
    const contrary = others.find((other) => type === 'CNAME' || other.type === 'CNAME');
    if (contrary === undefined) return [];
    const message = `${fqdn} already has a record of type ${contrary.type}; a CNAME must be the only record of its name (RFC 1034 section 3.6.2)`;
    return [{ index, message }];
  });
  if (found.length > 0 || changed.every(({ record_type: type }) => type !== 'CNAME')) return found;
  const loop = findAliasLoop(
    buildLocalTree(localRecords({ localRecords: stored }, { configRecords, leases: [] })),
  );
  if (loop === undefined) return [];
  const isIn = ({ fqdn, record_type: type }: StoredRecord): boolean => type === 'CNAME' && fqdn === loop;
  const index = Math.max(changed.findIndex(isIn), 0);
  return [{ index, message: `the CNAME of ${loop} would create a loop of aliases` }];
}
