/**
 * The active configuration of this node, and the only way to change it. Keys of the cluster are database rows, keys of
 * the node are in its file; the environment takes precedence. The latest edit applies, by API or in the file.
 */
import { runInFileTurn } from '../../../config/file-turns.ts';
import * as layered from '../../../config/layers.ts';
import type { Layers, Source, Values } from '../../../config/layers.ts';
import type { LoadedConfig } from '../../../config/parse-config.ts';
import { variableOf } from '../../../config/environment.ts';
import type { Config } from '../../../config/schema.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { effectiveLocal, withLocal } from '../../../config/local-config.ts';
import { ApiError, conflict, invalid } from '../../api/api-error.ts';
import { SYSTEM } from '../../api/caller.ts';
import type { Author } from '../../api/caller.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import type { Changed, PolicyChanges } from '../change/change.ts';
import { badFields, FIXED, faultsOfBody, reloadFaultOf } from './bad-fields.ts';
import { ConfigFile } from './config-file.ts';
import type { ReadConfigFile, WrittenConfig } from './config-file.ts';
import { ConfigMemory } from './config-memory.ts';
import { joinedChanges, storeChange } from './serial-change.ts';
import type { ChangeTogether, Activation, TurnedChange } from './serial-change.ts';
import { readConfigRows, seedConfig, writeConfigRows } from './config-store.ts';

/** Applies a configuration. If one such function throws, the others are still called. */
export type UseConfig = (next: Config, before: Config) => Promise<void> | void;

export interface ConfigurationParts {
  readonly loaded: Pick<LoadedConfig, 'config' | 'file' | 'given'>;
  readonly dataDir: string;
  readonly database: Database;
  readonly logger: Logger;
  /** Errors in files to which a configuration refers. */
  readonly fileFaults?: (next: Config) => readonly FieldProblem[];
  /** Rejects a new name of the administrator that a user already has. */
  readonly refuseTaken?: (tx: Queryable, adminName: string) => Promise<void>;
}

/** Result of a change. */
export interface ConfigChange {
  readonly restart_required: string[];
}

/** Values of the configuration file including local changes, and the keys that were changed locally. */
interface FileValues {
  readonly file: Values;
  readonly local: readonly string[];
}

type ReadFile = () => Promise<FileValues>;

/** Holds and changes the configuration. One per node. */
export class Configuration {
  private readonly parts: ConfigurationParts;
  private readonly file: ConfigFile | null;
  private readonly memory: ConfigMemory;
  private readonly started: Values;
  private readonly startedWith: Config;
  private readonly users: UseConfig[] = [];
  private layers: Layers;
  private running: Config;
  private stored: Config;
  /** The values from which `running` and `stored` were computed. */
  private taken: Values;
  /** Values of the file when it was last compared with the rows; null = never on this node. */
  private remembered: Values | null;
  /** Whether the rows of the database are known to contain the values of the file at the start. */
  private isSettled = false;
  /** Reasons why the last attempts to apply the file and the cluster's rows failed; null = they succeeded. */
  private fileFault: string | null = null;
  private rowsFault: string | null = null;
  /** Whether the file was changed while there was no database. */
  private isReloadDue = false;

  constructor(parts: ConfigurationParts) {
    const { loaded, dataDir, logger } = parts;
    this.parts = parts;
    this.file = loaded.file === undefined ? null : new ConfigFile(loaded.file, dataDir);
    this.memory = new ConfigMemory(dataDir, logger);
    const known = this.memory.read();
    this.remembered = known?.file ?? null;
    this.layers = { ...loaded.given, rows: this.memory.firstRows(loaded.given, known) };
    this.started = this.taken = layered.decidingValues(this.layers);
    const first = layered.configOf(this.started);
    this.startedWith = this.stored = this.running = 'config' in first ? first.config : loaded.config;
  }

  /** The active configuration; keys that need a restart have their values from the start. */
  current(): Config {
    return this.running;
  }

  /** The stored configuration. */
  written(): Config {
    return this.stored;
  }

  /** The stored configuration, but with these rows, which a transaction has read. */
  writtenWith(rows: Values): Config {
    const stored = layered.configOf(layered.decidingValues({ ...this.layers, rows }));
    return 'config' in stored ? stored.config : this.stored;
  }

  /** The source of each key. */
  sources(): Record<string, Source> {
    const { layers } = this;
    return Object.fromEntries(layered.KEY_NAMES.map((name) => [name, layered.sourceOf(layers, name)]));
  }

  /** Keys whose stored values only become active after a restart. */
  pending(): string[] {
    const [started, stored] = [this.startedWith, this.stored].map((config) => layered.valuesOf(config));
    return layered.differingKeys(started!, stored!).filter(layered.needsRestart);
  }

  /** Keys of the cluster that have a different value on this node, because of its environment or until a restart. */
  drift(): string[] {
    const pending = new Set(this.pending());
    const isOwn = (name: string): boolean => !layered.isNodeKey(name) && name in this.layers.environment;
    return layered.KEY_NAMES.filter((name) => pending.has(name) || isOwn(name));
  }

  /** Reason why the last reload failed, so that an earlier configuration is still active; null = it was successful. */
  reloadFault(): string | null {
    return this.fileFault ?? this.rowsFault;
  }

  /** Adds a function that applies configurations. */
  onChange(use: UseConfig): void {
    this.users.push(use);
  }

  /** Stores and applies values by key, all or none; undefined = the default. `together` shares the revision. */
  change(
    policy: PolicyChanges,
    author: Author,
    values: Values,
    together?: ChangeTogether,
  ): Promise<ConfigChange> {
    return this.store(policy, author, Object.keys(values), () => values, together);
  }

  /** Errors of a change of these keys on this node, without making it. */
  faultsOfChange(values: Values): readonly FieldProblem[] {
    const { layers, file } = this;
    const names = Object.keys(values);
    const isFixed = (path: string): boolean =>
      path in layers.environment || (file === null && layered.isNodeKey(path));
    const fixed = names.filter(isFixed).map((path) => ({ path, message: FIXED }));
    const fields = [...faultsOfBody(layered.treeOf(values), names, false), ...fixed];
    return fields.length > 0 ? fields : this.faultsOf(layered.layersWith(layers, layers.rows, values));
  }

  /** Like `change()`, but adds entries to a list and keeps entries that other requests add at the same time. */
  addEntries(
    policy: PolicyChanges,
    author: Author,
    name: string,
    entries: readonly string[],
  ): Promise<ConfigChange> {
    return this.store(policy, author, [name], (rows) => {
      const list = layered.valuesOf(this.writtenWith(rows))[name] as readonly string[];
      return { [name]: [...new Set([...list, ...entries])] };
    });
  }

  /** Stores values. `valuesIn` computes them from the rows, at a time when no other change is running on any node. */
  private async store(
    policy: PolicyChanges,
    author: Author,
    names: readonly string[],
    valuesIn: (rows: Values) => Values,
    together?: ChangeTogether,
  ): Promise<ConfigChange> {
    this.refuseOverridden(names);
    await this.settle(policy);
    let written: WrittenConfig | undefined;
    let values: Values = {};
    const work = async (tx: Queryable): Promise<Changed<null>> => {
      const read = await this.readFile(names);
      const rows = await readConfigRows(tx);
      values = valuesIn(rows);
      await this.refuseFaults(tx, rows, layered.layersWith(this.layers, rows, values));
      const other = await together?.work(tx);
      const node = { before: this.layers.file, after: layered.nodeValues(values) };
      const cluster = { before: rows, after: layered.clusterValues(values) };
      const changed = await writeConfigRows(tx, author, { rows: cluster, node });
      // The file is written last, so that an earlier failure leaves it unchanged.
      if (read !== null) {
        const again = await this.file!.write(read, values);
        // After a conflict, this work runs again and finds its own changes in the file.
        written = { ...again, undo: written?.undo ?? again.undo };
      }
      return other === undefined ? changed : joinedChanges(other, changed);
    };
    await this.inTurn(policy, author, {
      work,
      ...(together === undefined ? {} : { follow: together.follow }),
      stored: () =>
        this.hasFile(
          layered.setValues({ ...this.layers.file, ...values }),
          layered.setValues({ ...this.remembered, ...values }),
          written?.local ?? [],
        ),
      failed: () => this.undoFile(written),
    });
    return { restart_required: this.pending().filter((name) => names.includes(name)) };
  }

  /** Reloads the file: changes in the file are written to the rows, and the new configuration is applied. */
  async reload(policy: PolicyChanges, author: Author): Promise<ConfigChange> {
    await this.settle(policy);
    await this.takeFile(policy, author, () => this.readAll()).catch((error: unknown) => {
      if (!(error instanceof DatabaseUnavailable)) this.fileFault = reloadFaultOf(error);
      throw error;
    });
    this.fileFault = null;
    this.isReloadDue = false;
    return { restart_required: this.pending() };
  }

  /** Handles a reload by signal: failures are logged, and without a database the reload is postponed. */
  async reloadLater(policy: PolicyChanges): Promise<void> {
    const { logger, database } = this.parts;
    try {
      const { restart_required: restart } = await this.reload(policy, SYSTEM);
      logger.info('configuration file reloaded', { restart_required: restart });
    } catch (error) {
      this.isReloadDue = database.status().state !== 'up';
      const reason = reasonOf(error);
      if (this.isReloadDue) logger.warn('reload postponed until the database is available', { reason });
      else logger.error('reload failed; keeping the current configuration', { reason });
    }
  }

  /** Compares the file at the start with the rows of the database; the first file provides the initial values. */
  async settle(policy: PolicyChanges): Promise<void> {
    const isAgain = this.isReloadDue;
    if (this.isSettled && !isAgain) return;
    const { file, local = [] } = this.layers;
    try {
      await this.takeFile(policy, SYSTEM, async () => (isAgain ? this.readAll() : { file, local }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      this.fileFault = reloadFaultOf(error);
      this.parts.logger.error(
        'could not apply the changes of the configuration file; the stored settings stay active',
        {
          reason: error.message,
        },
      );
    }
    this.isReloadDue = false;
    if (this.isSettled) return;
    this.isSettled = true;
    await this.takeRows(await readConfigRows(this.parts.database));
  }

  /** Records that another process of Weir has written this value of one of the node's keys to the file. */
  noteInFile(name: string, value: unknown): void {
    this.layers = { ...this.layers, file: { ...this.layers.file, [name]: value } };
  }

  /** Errors in the configuration that this node would have with these rows, by key. */
  faultsOfRows(rows: Values): readonly FieldProblem[] {
    return this.faultsOf({ ...this.layers, rows });
  }

  /** Applies the configuration rows in the result of `read`; returns the whole result. */
  async follow<Read extends { readonly config: Values }>(read: () => Promise<Read>): Promise<Read> {
    // Rows that were read before the values of the file were stored in them do not count.
    const { isSettled } = this;
    const found = await read();
    await this.takeRows(isSettled ? found.config : this.layers.rows);
    return found;
  }

  /** Applies these rows, together with the file and the environment. */
  private async takeRows(rows: Values): Promise<void> {
    this.layers = { ...this.layers, rows };
    const before = this.running;
    const values = layered.decidingValues(this.layers);
    if (!layered.isSameValue(values, this.taken)) this.take(values);
    if (this.remembered !== null) await this.memory.write({ file: this.remembered, rows });
    for (const use of this.users) await use(this.running, before);
  }

  private take(values: Values): void {
    this.taken = values;
    const stored = layered.configOf(values);
    if ('faults' in stored) {
      const reason = stored.faults.map(({ key, message }) => `${key}: ${message}`).join('; ');
      this.rowsFault = reason;
      this.parts.logger.error('could not apply the configuration of the cluster; the last one stays active', {
        reason,
      });
      return;
    }
    this.rowsFault = null;
    this.stored = stored.config;
    this.running = this.withStarted(values) ?? stored.config;
  }

  /** The configuration with the values from the start for keys that need a restart; null if it is invalid. */
  private withStarted(values: Values): Config | null {
    const kept = layered.pickValues(this.started, layered.KEY_NAMES.filter(layered.needsRestart));
    const result = layered.configOf(layered.setValues({ ...values, ...kept }));
    return 'config' in result ? result.config : null;
  }

  private async readFile(names: readonly string[]): Promise<ReadConfigFile | null> {
    const read = (await this.file?.readToWrite()) ?? null;
    if (read === null && names.some(layered.isNodeKey))
      throw conflict(
        'Weir has no configuration file, in which the keys of this node are stored; create one and restart Weir',
      );
    return read;
  }

  private async readAll(): Promise<FileValues> {
    const read = await this.file?.read();
    return read === undefined
      ? { file: {}, local: [] }
      : { file: withLocal(read.own, read.local), local: localNames(read) };
  }

  private async takeFile(policy: PolicyChanges, author: Author, readFile: ReadFile): Promise<void> {
    let file: Values = {};
    let local: readonly string[] = [];
    const work = async (tx: Queryable): Promise<Changed<null>> => {
      ({ file, local } = await readFile());
      const cluster = layered.clusterValues(file);
      if (await seedConfig(tx, cluster)) return { result: null, summary: null };
      const rows = await readConfigRows(tx);
      const edited = this.remembered === null ? [] : layered.differingKeys(this.remembered, cluster);
      const after = layered.pickValues(cluster, edited);
      const all = layered.setValues({ ...rows, ...after });
      await this.refuseFaults(tx, rows, { ...this.layers, file, rows: all });
      const node = { before: this.layers.file, after: layered.nodeDifferences(this.layers.file, file) };
      return writeConfigRows(tx, author, { rows: { before: rows, after }, node });
    };
    await this.inTurn(policy, author, {
      work,
      stored: () => {
        this.isSettled = true;
        this.hasFile(file, file, local);
      },
    });
  }

  /** Runs a change while no other change of this node runs. */
  private inTurn(policy: PolicyChanges, author: Author, change: TurnedChange): Promise<void> {
    const run = (): Promise<Activation> => storeChange(policy, author, change);
    const stored = this.file?.inTurn(run) ?? runInFileTurn(this.parts.dataDir, run);
    return stored.then(({ isActive }) => isActive);
  }

  private hasFile(file: Values, remembered: Values, local: readonly string[]): void {
    this.layers = { ...this.layers, file, local };
    this.remembered = layered.clusterValues(remembered);
  }

  private refuseOverridden(names: readonly string[]): void {
    const set = names.filter((name) => name in this.layers.environment);
    if (set.length === 0) return;
    const variables = set.map((name) => `${name} by ${variableOf(name.split('.'))}`);
    throw conflict(`set by an environment variable of this node; change it there: ${variables.join(', ')}`);
  }

  private async refuseFaults(tx: Queryable, before: Values, layers: Layers): Promise<void> {
    const faults = this.faultsOf(layers);
    if (faults.length > 0) throw invalid(faults);
    const [was, next] = [before, layers.rows].map((rows) => this.writtenWith(rows).auth.admin.username);
    if (next !== was) await this.parts.refuseTaken?.(tx, next!);
  }

  private faultsOf(layers: Layers): readonly FieldProblem[] {
    const result = layered.configOf(layered.decidingValues(layers));
    return 'faults' in result ? badFields(result.faults) : (this.parts.fileFaults?.(result.config) ?? []);
  }

  /** The transaction has failed: restores the text of the file. */
  private async undoFile(written: WrittenConfig | undefined): Promise<void> {
    try {
      await written?.undo();
    } catch (error) {
      this.parts.logger.error('could not undo a change of the configuration file', {
        reason: reasonOf(error),
      });
    }
  }
}

function localNames({ own, local }: ReadConfigFile): readonly string[] {
  return Object.keys(effectiveLocal(local, own).values);
}
