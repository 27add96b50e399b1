/**
 * Gzip-compressed copies of lists in `<data_dir>/list-cache/`. The name of a file identifies its source, URL and
 * content, `<source id>-<URL key>-<content key>.gz`, so that a copy never has a wrong description. A new copy gets its
 * name when it is complete; earlier copies of the source are kept while they are needed: for a running compilation, as
 * held updates, or for revisions that can be restored.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TEMPORARY_SUFFIX, syncFolder } from '../../host/files/durable-file.ts';

const COPY_FILE = /^(\d{1,10})-[0-9a-f]{16}-([0-9a-f]{32})\.gz$/;

/** A list on disk. */
export interface ListCopy {
  readonly path: string;
  /** Equal keys mean equal text. */
  readonly contentKey: string;
}

/** The copies of all sources. */
export class ListCache {
  private readonly folder: string;
  /** The active copy of each source. */
  private readonly copies = new Map<number, ListCopy>();
  /** Every copy on disk, by source. */
  private readonly stored = new Map<number, readonly ListCopy[]>();
  /** Paths of copies in preparation, which pruning must not remove. */
  private readonly arriving = new Set<string>();
  private opened: Promise<void> | undefined;
  private choiceCount = 0;

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'list-cache');
  }

  /**
   * Finds the copies on disk, at the first call only. If a source has several copies, the newest becomes active. Call
   * this before any other method.
   */
  open(): Promise<void> {
    this.opened ??= this.scan().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  /** Increases whenever the active copy of a source changes. */
  get choices(): number {
    return this.choiceCount;
  }

  /** The last good copy of a source, which may be from an earlier URL. */
  copyOf(id: number): ListCopy | undefined {
    return this.copies.get(id);
  }

  /** Path for a new file, which `store()` makes a copy, or which the caller must remove. */
  temporaryPath(): string {
    return join(this.folder, `${randomUUID()}${TEMPORARY_SUFFIX}`);
  }

  /**
   * Adds a complete file with this content to the copies of a source. Pruning does not delete the copy until the caller
   * calls `settle()`, which it must do when the copy is active or recorded as needed.
   */
  async store(id: number, url: string, contentKey: string, temporaryPath: string): Promise<ListCopy> {
    const copy = { path: join(this.folder, `${id}-${urlKey(url)}-${contentKey}.gz`), contentKey };
    this.arriving.add(copy.path);
    try {
      await rename(temporaryPath, copy.path);
      await syncFolder(this.folder);
    } catch (error) {
      this.arriving.delete(copy.path);
      throw error;
    }
    this.remove(id, copy.path);
    this.stored.set(id, [...this.storedOf(id), copy]);
    return copy;
  }

  /** Ends the protection from pruning that `store()` has begun. */
  settle(copy: ListCopy): void {
    this.arriving.delete(copy.path);
  }

  /** Whether there is a stored copy of this content. */
  has(id: number, contentKey: string): boolean {
    return this.find(id, contentKey) !== undefined;
  }

  /** The stored copy of this content, active or not. */
  find(id: number, contentKey: string): ListCopy | undefined {
    return this.storedOf(id).find((stored) => stored.contentKey === contentKey);
  }

  /** Activates a stored copy; false if no copy has this content. */
  use(id: number, contentKey: string): boolean {
    const copy = this.find(id, contentKey);
    if (copy === undefined) return false;
    if (this.copies.get(id)?.path !== copy.path) this.choiceCount++;
    this.copies.set(id, copy);
    return true;
  }

  /** A stored copy of this content, of any source. */
  findAny(contentKey: string): ListCopy | undefined {
    return [...this.stored.values()].flat().find((stored) => stored.contentKey === contentKey);
  }

  /** Ids of sources that have an active copy. */
  ids(): number[] {
    return [...this.copies.keys()];
  }

  /** Removes the copy of a source, or only if its path is `path`; the next pruning deletes its file. */
  removeCopy(id: number, path?: string): void {
    const isMeant = path === undefined || this.copies.get(id)?.path === path;
    if (isMeant && this.copies.delete(id)) this.choiceCount++;
  }

  /** Deletes a copy that cannot be read, so that it is fetched again. */
  async discard(id: number, path: string): Promise<void> {
    this.removeCopy(id, path);
    this.remove(id, path);
    await rm(path, { force: true });
  }

  /**
   * Deletes copies that are neither active nor among the content keys that `readNeeded` returns. Such copies must not
   * be in use. Copies that arrive during the call are kept.
   */
  async prune(readNeeded: () => Promise<ReadonlySet<string>>): Promise<void> {
    const files = (await readdir(this.folder)).filter((file) => !this.isNeeded(join(this.folder, file)));
    const needed = await readNeeded();
    for (const file of files) {
      const path = join(this.folder, file);
      const match = COPY_FILE.exec(file);
      if (match === null || needed.has(match[2]!) || this.isNeeded(path)) continue;
      this.remove(Number(match[1]), path);
      await rm(path, { force: true });
    }
  }

  private async scan(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const times = new Map<number, number>();
    for (const file of await readdir(this.folder)) {
      const path = join(this.folder, file);
      if (file.endsWith(TEMPORARY_SUFFIX)) await rm(path, { force: true });
      const match = COPY_FILE.exec(file);
      if (match === null) continue;
      const id = Number(match[1]);
      const copy = { path, contentKey: match[2]! };
      this.stored.set(id, [...this.storedOf(id), copy]);
      const { mtimeMs } = await stat(path);
      if (mtimeMs < (times.get(id) ?? 0)) continue;
      times.set(id, mtimeMs);
      this.copies.set(id, copy);
    }
  }

  private remove(id: number, path: string): void {
    const others = this.storedOf(id).filter((copy) => copy.path !== path);
    this.stored.set(id, others);
  }

  private storedOf(id: number): readonly ListCopy[] {
    return this.stored.get(id) ?? [];
  }

  private isNeeded(path: string): boolean {
    if (this.arriving.has(path)) return true;
    for (const copy of this.copies.values()) if (copy.path === path) return true;
    return false;
  }
}

function urlKey(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 16);
}
