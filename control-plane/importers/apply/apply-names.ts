/** Writes the local records and DNS settings of a plan. */
import type { WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import { splitName } from '../../local-names/read-record.ts';
import { insertRecords, listRecords, replaceRecord } from '../../local-names/record-store.ts';
import { putConfigRows, readConfigRows } from '../../settings/config-store.ts';
import type { RecordFields } from '../../local-names/record-store.ts';
import type { PlannedRecord } from '../plan/import-plan.ts';
import { CollectedRows } from './collected-rows.ts';
import type { ImportRun } from './planned-state.ts';

/** Writes records; one that contradicts another is refused. */
export async function applyRecords(run: ImportRun, configured: readonly WrittenLocalRecord[]): Promise<void> {
  const stored = await listRecords(run.tx);
  const known = new Map(
    stored.map((record) => [`${record.fqdn} ${record.record_type} ${record.value}`, record]),
  );
  const added = new CollectedRows((records: readonly RecordFields[]) => insertRecords(run.tx, records));
  const names = new NamesInUse();
  for (const { fqdn, record_type: type, value } of stored) names.add(fqdn, type, value);
  for (const { fqdn, type, value } of configured) names.add(fqdn, type, value);
  for (const record of run.plan.records) {
    const { fqdn, type, value, ttlSecs: ttl } = record;
    const key = `${fqdn} ${type} ${value}`;
    await added.settle(key);
    const before = known.get(key);
    if (before !== undefined) {
      if (before.ttl !== ttl) await replaceRecord(run.tx, before.id, { ...before, ttl });
      run.note(record, before.ttl === ttl ? null : 'changed');
      continue;
    }
    const fault = names.faultOf(record);
    if (fault !== null) {
      run.refuse(record, fault);
      continue;
    }
    names.add(fqdn, type, value);
    run.note(record, 'done');
    const row = { ...splitName(fqdn), record_type: type, value, ttl, comment: '' };
    await added.add(key, row, (written) => known.set(key, written));
  }
  await added.flush();
}

/** Names that records are at, so that an alias stands alone and never leads back to itself. */
class NamesInUse {
  private readonly names = new Set<string>();
  private readonly aliases = new Map<string, string>();

  add(fqdn: string, type: string, value: string): void {
    this.names.add(fqdn);
    if (type === 'CNAME') this.aliases.set(fqdn, value);
  }

  faultOf({ fqdn, type, value }: PlannedRecord): string | null {
    if (type !== 'CNAME') return this.aliases.has(fqdn) ? `${fqdn} is an alias already` : null;
    if (this.names.has(fqdn)) return `${fqdn} has other records, and an alias stands alone`;
    for (let at: string | undefined = value; at !== undefined; at = this.aliases.get(at))
      if (at === fqdn) return `the alias would lead ${fqdn} back to itself`;
    return null;
  }
}

/** Writes DNS settings. */
export async function applySettings(run: ImportRun): Promise<void> {
  for (const planned of run.plan.settings) {
    const before = await readConfigRows(run.tx);
    const wanted = Object.fromEntries(
      Object.entries(planned.change).map(([name, value]) => [`dns.${name}`, value]),
    );
    const isSame = Object.entries(wanted).every(([key, value]) => before[key] === value);
    if (!isSame) await putConfigRows(run.tx, wanted);
    run.note(planned, isSame ? null : 'changed');
  }
}
