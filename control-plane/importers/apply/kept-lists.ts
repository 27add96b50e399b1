/** Writes the lists of a plan that Weir keeps as files: their sources in the transaction, their files once it is stored. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { writeDurably } from '../../files/durable-file.ts';
import { listSources, recordFacts, type StoredSource } from '../../lists/sources/source-store.ts';
import type { ImportPlan, PlannedList } from '../plan/import-plan.ts';
import { applySource, sourceOfFile } from './apply-sources.ts';
import type { ImportRun } from './planned-state.ts';

/** Such a list, and where it goes. */
export interface ListFile extends PlannedList {
  readonly path: string;
  readonly isSame: boolean;
}

/** Writes their sources; returns those that are new or whose row or file differs. */
export async function applyLists(
  run: ImportRun,
  files: readonly ListFile[],
  nodeName: string,
): Promise<StoredSource[]> {
  const known = await listSources(run.tx);
  const written: StoredSource[] = [];
  for (const file of files) {
    const planned = sourceOfFile(file, file.path);
    const stored = await applySource(run, known, planned);
    const before = known.find(({ kind, url }) => kind === planned.kind && url === planned.url);
    if (stored !== null) written.push(stored);
    else if (!file.isSame && before !== undefined) {
      written.push(before);
      run.note(planned, 'changed');
    }
  }
  // No other node looks for a file that is written here.
  for (const { id, url } of written) await recordFacts(run.tx, id, url, { fileNode: nodeName });
  if (run.plan.lists.length > files.length)
    for (const list of run.plan.lists)
      run.refuse(list, 'blocking.list_dirs names no folder to keep the list in');
  return written;
}

/** The lists with their paths; empty without a folder for lists. */
export async function listFiles({ lists }: ImportPlan, listDirs: readonly string[]): Promise<ListFile[]> {
  const [folder] = listDirs;
  if (folder === undefined) return [];
  return Promise.all(
    lists.map(async (list) => {
      const path = resolve(join(folder, list.fileName));
      const before = await readFile(path, 'utf8').catch(() => null);
      return { ...list, path, isSame: before === list.text };
    }),
  );
}

/** Writes the files that differ; returns the URLs of their sources. */
export async function writeFiles(files: readonly ListFile[]): Promise<ReadonlySet<string>> {
  const changed = files.filter(({ isSame }) => !isSame);
  for (const { path, text } of changed) {
    await mkdir(dirname(path), { recursive: true });
    await writeDurably(path, Buffer.from(text));
  }
  return new Set(changed.map((file) => sourceOfFile(file, file.path).url));
}
