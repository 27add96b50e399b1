/** One import from upload to report. HTTP routes use importers only through this file. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { valuesOf } from '../../../config/layers.ts';
import type { Config } from '../../../config/schema.ts';
import type { ImportFormat, ImportReport, SettingSelection } from '../../../shared/api/imports-api.ts';
import type { Logger } from '../../../shared/log.ts';
import { overloaded } from '../../api/api-error.ts';
import type { Author } from '../../api/caller.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';
import type { ApplyParts, ImportChoices } from './apply/apply-plan.ts';
import { applyPlan } from './apply/apply-plan.ts';
import { chooseSettings, type FaultsOfChange, type UpstreamTests } from './choices/chosen-settings.ts';
import type { QueriesByName } from './choices/differences.ts';
import { type OfferedSetting, offersOf, serversOf } from './choices/offered-settings.ts';
import { withProtections } from './choices/own-protections.ts';
import type { ImportPlan } from './plan/import-plan.ts';
import { planInThread } from './plan-in-thread.ts';

/** Dependencies of an import. */
export interface ImportParts extends ApplyParts {
  /** Data directory, which contains the directory of the running import. */
  readonly dataDir: () => string;
  readonly logger: Logger;
  readonly configuration: ApplyParts['configuration'] & {
    readonly faultsOfChange: FaultsOfChange;
    written(): Config;
  };
  /** Queries each of these servers once; the given resolvers look up the servers' names. */
  readonly testUpstreams: (
    servers: readonly string[],
    bootstrap: readonly string[],
  ) => Promise<UpstreamTests>;
  /** Queries of the last days by name, as far as the log contains them; null without a log. */
  readonly loggedQueries: () => Promise<QueriesByName>;
}

/** Options of an import. */
export interface ImportOptions {
  /** Writes the upload to a path. */
  readonly save: (path: string) => Promise<void>;
  readonly format: ImportFormat | 'auto';
  readonly isDryRun: boolean;
  readonly settings: SettingSelection;
  /** The user's answers, by question. */
  readonly answers: ReadonlyMap<string, string>;
  readonly author: Author;
}

/** Subdirectory of the data directory; if an import is killed, the next one deletes the remaining files. */
const FOLDER = 'import';
/** Maximum number of imports that wait for the one in progress. */
const MAX_WAITING = 2;
const RETRY_SECS = 5;

/** Runs imports, one at a time. */
export class SettingsImport {
  private readonly parts: ImportParts;
  private readonly turns = new Semaphore(1);
  private count = 0;

  constructor(parts: ImportParts) {
    this.parts = parts;
  }

  /** Imports a file; throws 400 if it cannot be read, 503 if too many imports wait. */
  async run(options: ImportOptions): Promise<ImportReport> {
    if (this.count > MAX_WAITING) throw overloaded('other imports are waiting; try again later', RETRY_SECS);
    this.count++;
    try {
      return await this.turns.run(() => this.runNow(options));
    } finally {
      this.count--;
    }
  }

  private async runNow(options: ImportOptions): Promise<ImportReport> {
    const { save, format, author, isDryRun } = options;
    const folder = join(this.parts.dataDir(), FOLDER);
    try {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, 'upload');
      await save(path);
      const read = await planInThread({ path, folder, format }, this.parts.logger);
      const plan = withProtections(read, valuesOf(this.parts.configuration.written()));
      const choices = await this.choose(plan, options);
      return await applyPlan(this.parts, plan, choices, { author, isDryRun });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** The choices for a plan; upstreams are tested only if the choice depends on it, or for a dry run. */
  private async choose(
    plan: ImportPlan,
    { settings: selection, answers, isDryRun }: ImportOptions,
  ): Promise<ImportChoices> {
    const { configuration } = this.parts;
    const { settings: offered, same } = offersOf(plan.keys, valuesOf(configuration.written()));
    const isTested = isDryRun || selection === 'default';
    const [tests, logged] = await Promise.all([
      isTested ? this.test(offered) : null,
      this.parts.loggedQueries(),
    ]);
    const faultsOf: FaultsOfChange = (values) => configuration.faultsOfChange(values);
    return {
      settings: chooseSettings(offered, { selection, faultsOf, tests }),
      same,
      answers,
      queries: plan.queries.size > 0 ? plan.queries : logged,
    };
  }

  private async test(offered: readonly OfferedSetting[]): Promise<UpstreamTests> {
    const servers = offered.flatMap((row) => serversOf(row) ?? []);
    const resolvers = offered.find(({ key, doubt }) => key === 'dns.bootstrap' && doubt === null)?.value;
    const { bootstrap } = this.parts.configuration.written().dns;
    return this.parts.testUpstreams(servers, Array.isArray(resolvers) ? (resolvers as string[]) : bootstrap);
  }
}
