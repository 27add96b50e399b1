/** Objects of a plan that depend on answers of the user: the list of the first start, and devices with two entries. */
import type { Queryable } from '../../../storage/db/database.ts';
import type { BackupItems } from '../../backup/backup-items.ts';
import type { MergedKind } from '../../backup/merge-items.ts';
import { macsOf, oneDeviceEach } from '../choices/one-device.ts';
import { startingList } from '../choices/starting-list.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import type { ImportOutcomes } from './import-outcomes.ts';
import type { PlannedThing } from './planned-things.ts';

/** Data of both functions, which modify `things`. */
interface AskedThings {
  readonly plan: ImportPlan;
  readonly things: Map<MergedKind, readonly PlannedThing[]>;
  readonly current: BackupItems;
  readonly outcomes: ImportOutcomes;
  readonly answers: ReadonlyMap<string, string>;
}

/** Merges the entries of each device into one client. */
export async function mergeDevices(
  tx: Queryable,
  { plan, things, current, outcomes, site, answers }: AskedThings & { readonly site: string },
): Promise<void> {
  const planned = things.get('clients')!;
  const addresses = planned.flatMap(({ item: { ip_address: address } }) =>
    typeof address === 'string' ? [address] : [],
  );
  if (addresses.length === 0) return;
  const macs = await macsOf(tx, addresses, { site, devices: plan.devices });
  const stored = current.get('clients')!;
  const { clients, questions, remarks } = oneDeviceEach(planned, { macs, stored, answers });
  things.set('clients', clients);
  for (const question of questions) outcomes.ask(question);
  for (const { items, text } of remarks) outcomes.remark(items, text);
}

/** Asks about the list of the first start, and changes it according to the answer. */
export async function addStartingList(
  tx: Queryable,
  { plan, things, current, outcomes, answers }: AskedThings,
): Promise<void> {
  const asked = startingList(
    plan,
    {
      sources: current.get('list_sources')!,
      groups: current.get('groups')!,
      wasImported: await wasImported(tx),
    },
    answers,
  );
  if (asked === null) return;
  const { question, changed, reason } = asked;
  outcomes.ask(question);
  const item = outcomes.add({
    kind: 'blocklist',
    name: question.name,
    result: changed === null ? 'skipped' : null,
    reason,
  });
  if (changed !== null)
    things.set('list_sources', [...things.get('list_sources')!, { item: changed, origin: [item] }]);
}

/** Whether there was an earlier import, which already asked about the list. */
async function wasImported(tx: Queryable): Promise<boolean> {
  const { rows } = await tx.query(
    `SELECT 1 FROM revisions WHERE NOT is_own AND summary LIKE 'settings of %: imported,%' LIMIT 1`,
  );
  return rows.length > 0;
}
