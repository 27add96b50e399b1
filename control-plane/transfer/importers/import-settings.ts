/** One import from upload to report. The only door to importers for HTTP. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImportFormat, ImportReport } from '../../../shared/api/imports-api.ts';
import type { Logger } from '../../../shared/log.ts';
import { overloaded } from '../../api/api-error.ts';
import type { Author } from '../../api/caller.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';
import type { ApplyParts } from './apply/apply-plan.ts';
import { applyPlan } from './apply/apply-plan.ts';
import { planInThread } from './plan-in-thread.ts';

/** Parts of an import. */
export interface ImportParts extends ApplyParts {
  /** Has the folder of the import that runs. */
  readonly dataDir: () => string;
  readonly logger: Logger;
}

/** What to import, and how. */
export interface ImportWish {
  /** Writes the upload to a path. */
  readonly save: (path: string) => Promise<void>;
  readonly format: ImportFormat | 'auto';
  readonly isDryRun: boolean;
  readonly author: Author;
}

/** Below the data directory; the next import removes what a killed one left there. */
const FOLDER = 'import';
/** Imports that may wait for the one that runs. */
const MOST_WAITING = 2;
const RETRY_SECS = 5;

/** Runs imports, one at a time. */
export class SettingsImport {
  private readonly parts: ImportParts;
  private readonly turns = new Semaphore(1);
  private count = 0;

  constructor(parts: ImportParts) {
    this.parts = parts;
  }

  /** Imports a file; throws 400 for one that cannot be read, 503 where too many wait. */
  async run(wish: ImportWish): Promise<ImportReport> {
    if (this.count > MOST_WAITING) throw overloaded('other imports wait; try again later', RETRY_SECS);
    this.count++;
    try {
      return await this.turns.run(() => this.runNow(wish));
    } finally {
      this.count--;
    }
  }

  private async runNow({ save, format, isDryRun, author }: ImportWish): Promise<ImportReport> {
    const folder = join(this.parts.dataDir(), FOLDER);
    try {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, 'upload');
      await save(path);
      const plan = await planInThread({ path, folder, format }, this.parts.logger);
      return await applyPlan(this.parts, plan, author, isDryRun);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
