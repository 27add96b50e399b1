/** Lists of a plan that Weir stores as files: their sources, and the files, which are written after the sources. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeDurably } from '../../../host/files/durable-file.ts';
import type { PlannedList } from '../plan/import-plan.ts';

/** A list of a plan with the path of its file. */
export interface ListFile extends PlannedList {
  readonly path: string;
  /** `file:` URL of that path. */
  readonly url: string;
  readonly isSame: boolean;
}

/** The lists with their paths in the first of these directories; empty if there is none. */
export async function listFiles(
  lists: readonly PlannedList[],
  [folder]: readonly string[],
): Promise<ListFile[]> {
  if (folder === undefined) return [];
  return Promise.all(
    lists.map(async (list) => {
      const path = resolve(join(folder, list.fileName));
      const before = await readFile(path, 'utf8').catch(() => null);
      return { ...list, path, url: pathToFileURL(path).href, isSame: before === list.text };
    }),
  );
}

/** Writes the files that differ. */
export async function writeFiles(files: readonly ListFile[]): Promise<void> {
  for (const { path, text, isSame } of files) {
    if (isSame) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeDurably(path, Buffer.from(text));
  }
}
