/** Writes the list sources of a plan, and those of its lists that Weir keeps as files. */
import { pathToFileURL } from 'node:url';
import { type PackedText, packText, storeText } from '../../cluster/blob-store.ts';
import {
  insertSource,
  listSources,
  readSource,
  recordFacts,
  type StoredSource,
  updateSource,
} from '../../lists/sources/source-store.ts';
import type { PlannedSource } from '../plan/import-plan.ts';
import type { ImportRun } from './planned-state.ts';
import { sameFields } from './same-fields.ts';

/** Writes the sources of URLs and custom rules; returns those that are new or changed. */
export async function applySources(run: ImportRun): Promise<StoredSource[]> {
  const written: StoredSource[] = [];
  const known = await listSources(run.tx);
  for (const source of run.plan.sources) {
    const stored = await applySource(run, known, source);
    if (stored !== null) written.push(stored);
    if (stored !== null && source.enabled && source.text === null)
      run.remark(source, 'fetched in the background');
  }
  return written;
}

/** Writes one source; null if it is as it was. */
export async function applySource(
  run: ImportRun,
  known: readonly StoredSource[],
  source: PlannedSource,
): Promise<StoredSource | null> {
  const { kind, url, name, enabled, comment, subdomains, groups, text } = source;
  const groupIds = run.groupIdsOf(groups);
  const before = known.find((other) => other.kind === kind && other.url === url);
  const packed = text === null ? null : await packText(text);
  if (before === undefined) {
    run.note(source, 'done');
    const given = { name, url, enabled, comment, subdomains, group_ids: groupIds };
    return withText(run, await insertSource(run.tx, kind, given), packed);
  }
  const change = { enabled, group_ids: groupIds, subdomains, ...(comment === '' ? {} : { comment }) };
  const hasText = packed === null || packed.key === before.contentKey;
  if (hasText && sameFields(before, change)) {
    run.note(source, null);
    return null;
  }
  run.note(source, 'changed');
  return withText(run, await updateSource(run.tx, kind, before.id, change), packed);
}

/** The source with this text, if it has one. */
async function withText(
  { tx }: ImportRun,
  source: StoredSource,
  packed: PackedText | null,
): Promise<StoredSource> {
  if (packed === null) return source;
  const { key: contentKey, bytes } = packed;
  await storeText(tx, packed);
  await recordFacts(tx, source.id, source.url, { contentKey, bytes, status: 'ok', lastError: null });
  return readSource(tx, source.id);
}

/** A list that Weir keeps as a file, as the source of its file. */
export function sourceOfFile(list: ImportRun['plan']['lists'][number], path: string): PlannedSource {
  const { kind, name, enabled, subdomains, groups, items } = list;
  const url = pathToFileURL(path).href;
  return { kind, name, enabled, subdomains, groups, items, url, comment: '', text: null };
}
