/** Writes the list sources of a plan, and those of its generated lists. */
import { pathToFileURL } from 'node:url';
import {
  insertSource,
  listSources,
  type StoredSource,
  updateSource,
} from '../../lists/sources/source-store.ts';
import type { PlannedSource } from '../plan/import-plan.ts';
import type { ImportRun } from './planned-state.ts';
import { sameFields } from './same-fields.ts';

/** Writes the sources of URLs; returns those that are new or changed. */
export async function applySources(run: ImportRun): Promise<StoredSource[]> {
  const written: StoredSource[] = [];
  const known = await listSources(run.tx);
  for (const source of run.plan.sources) {
    const stored = await applySource(run, known, source);
    if (stored !== null) written.push(stored);
    if (stored !== null && source.enabled) run.remark(source, 'fetched in the background');
  }
  return written;
}

/** Writes one source; null if it is as it was. */
export async function applySource(
  run: ImportRun,
  known: readonly StoredSource[],
  source: PlannedSource,
): Promise<StoredSource | null> {
  const { kind, url, name, enabled, comment, subdomains, groups } = source;
  const groupIds = run.groupIdsOf(groups);
  const before = known.find((other) => other.kind === kind && other.url === url);
  if (before === undefined) {
    run.note(source, 'done');
    return insertSource(run.tx, kind, { name, url, enabled, comment, subdomains, group_ids: groupIds });
  }
  const change = { enabled, group_ids: groupIds, subdomains, ...(comment === '' ? {} : { comment }) };
  if (sameFields(before, change)) {
    run.note(source, null);
    return null;
  }
  run.note(source, 'changed');
  return updateSource(run.tx, kind, before.id, change);
}

/** A generated list as the source of its file. */
export function sourceOfFile(list: ImportRun['plan']['lists'][number], path: string): PlannedSource {
  const { kind, name, enabled, subdomains, groups, items } = list;
  return { kind, name, enabled, subdomains, groups, items, comment: '', url: pathToFileURL(path).href };
}
