/**
 * Manages the names files on this node, `<data_dir>/list-names/`: those of the active table and of tables that a
 * rollback may restore. Each file is named after the identity of its table.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from '../../../shared/errors.ts';
import { type AddedLines, copyWithLines, namesPaths } from '../../policy/compile/table/names-file.ts';

const NAMES_FILE = /^([0-9a-f]{56})-(?:block|allow)\.names$/;

/** Finds and removes names files in the data directory. */
export class NamesFolder {
  private readonly folder: string;

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'list-names');
  }

  /** Path prefix for files that the caller will write; creates the directory. */
  async newStem(): Promise<string> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    return join(this.folder, `arriving-${randomUUID()}`);
  }

  /** Renames complete files to the names for a table. */
  async adopt(stem: string, rulesId: string): Promise<void> {
    const from = namesPaths(stem);
    const to = this.pathsOf(rulesId);
    await rename(from.block, to.block);
    await rename(from.allow, to.allow);
  }

  /**
   * Creates the files of a table from the files of another table and additional lines; false if this would take long.
   */
  async copy(
    from: string,
    to: string,
    lines: { readonly block: AddedLines; readonly allow: AddedLines },
  ): Promise<boolean> {
    const before = this.pathsOf(from);
    const stem = await this.newStem();
    const arriving = namesPaths(stem);
    const isDone =
      (await copyWithLines(before.block, arriving.block, lines.block)) &&
      (await copyWithLines(before.allow, arriving.allow, lines.allow));
    if (isDone) await this.adopt(stem, to);
    return isDone;
  }

  /** Paths of a table's files, whether they exist or not. */
  pathsOf(rulesId: string): ReturnType<typeof namesPaths> {
    return namesPaths(join(this.folder, rulesId));
  }

  /** Whether the files of a table exist. */
  async has(rulesId: string): Promise<boolean> {
    const { block, allow } = this.pathsOf(rulesId);
    try {
      await stat(block);
      await stat(allow);
      return true;
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  /** Removes the files of all other tables, and files of an interrupted compilation; no compilation may be running. */
  async prune(rulesIds: ReadonlySet<string>): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    for (const file of await readdir(this.folder)) {
      const rulesId = NAMES_FILE.exec(file)?.[1];
      if (rulesId === undefined ? file.startsWith('arriving-') : !rulesIds.has(rulesId))
        await rm(join(this.folder, file), { force: true });
    }
  }
}
