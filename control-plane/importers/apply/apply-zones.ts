/** Writes the forward zones of a plan. */
import type { ForwardZoneCreate } from '../../../shared/api/policy/forward-zones-api.ts';
import {
  insertForwardZones,
  listForwardZones,
  updateForwardZone,
} from '../../forward-zones/forward-zone-store.ts';
import { CollectedRows } from './collected-rows.ts';
import type { ImportRun } from './planned-state.ts';
import { sameFields } from './same-fields.ts';

/** Writes forward zones. */
export async function applyZones(run: ImportRun): Promise<void> {
  const known = new Map((await listForwardZones(run.tx)).map((zone) => [zone.zone, zone]));
  const added = new CollectedRows((zones: readonly ForwardZoneCreate[]) => insertForwardZones(run.tx, zones));
  for (const planned of run.plan.zones) {
    const { zone, enabled } = planned;
    const servers = [...planned.servers];
    await added.settle(zone);
    const before = known.get(zone);
    if (before === undefined) {
      run.note(planned, 'done');
      await added.add(zone, { zone, servers, enabled, comment: '' }, (made) => known.set(zone, made));
      continue;
    }
    const isSame = sameFields(before, { servers, enabled });
    if (!isSame) known.set(zone, await updateForwardZone(run.tx, before.id, { servers, enabled }));
    run.note(planned, isSame ? null : 'changed');
  }
  await added.flush();
}
