/** Writes the blocked services and the safe search of a plan. */
import { listConfigs, writeConfigs } from '../../safe-search/safe-search-store.ts';
import { findCustom, insertBlocked, listBlocked } from '../../services/service-store.ts';
import type { PlannedService } from '../plan/import-plan.ts';
import type { ImportRun } from './planned-state.ts';

/** Blocks services that Weir knows; `isBuiltIn` finds those of the catalog. */
export async function applyServices(run: ImportRun, isBuiltIn: (id: string) => boolean): Promise<void> {
  const blocked = await listBlocked(run.tx, undefined);
  const known = new Set(blocked.map(({ service_id: id, group_id: groupId }) => `${id} ${groupId}`));
  for (const service of run.plan.services) {
    const groupId = run.groupId(service.group);
    const serviceId = await knownId(run, service, isBuiltIn);
    if (serviceId === null) {
      run.refuse(service, `Weir's catalog has no service ${service.serviceId}`);
      continue;
    }
    const isKnown = known.has(`${serviceId} ${groupId}`);
    if (!isKnown) await insertBlocked(run.tx, { service_id: serviceId, group_id: groupId, profile_id: null });
    known.add(`${serviceId} ${groupId}`);
    run.note(service, isKnown ? null : 'done');
  }
}

/** The id by which the catalog knows a service; the one of the file first. */
async function knownId(
  { tx }: ImportRun,
  { serviceId, ownId }: PlannedService,
  isBuiltIn: (id: string) => boolean,
): Promise<string | null> {
  for (const id of [serviceId, ownId])
    if (id !== null && (isBuiltIn(id) || (await findCustom(tx, id)) !== undefined)) return id;
  return null;
}

/** Switches safe search on. */
export async function applySafeSearch(run: ImportRun): Promise<void> {
  const configs = await listConfigs(run.tx);
  for (const planned of run.plan.safeSearch) {
    const { engine, youtubeMode } = planned;
    const groupId = run.groupId(planned.group);
    const before = configs.find((config) => config.group_id === groupId && config.engine === engine);
    const isSame = before?.enabled === true && (engine !== 'youtube' || before.youtube_mode === youtubeMode);
    const mode = engine === 'youtube' ? { youtube_mode: youtubeMode } : {};
    if (!isSame) await writeConfigs(run.tx, groupId, { engine, enabled: true, ...mode });
    run.note(planned, isSame ? null : before === undefined ? 'done' : 'changed');
  }
}
