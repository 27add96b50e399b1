/** The configuration file of this node: reloads it, and edits it in place. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { editToml } from '../../../config/edit-toml.ts';
import { runInFileTurn } from '../../../config/file-turns.ts';
import { formatFault } from '../../../config/config-fault.ts';
import type { ConfigFault } from '../../../config/config-fault.ts';
import { isSecret, pickValues, setValues } from '../../../config/layers.ts';
import type { Values } from '../../../config/layers.ts';
import {
  NOTHING_LOCAL,
  effectiveLocal,
  localPath,
  localText,
  parseLocal,
} from '../../../config/local-config.ts';
import type { LocalConfig } from '../../../config/local-config.ts';
import { isUnwritable, readLocal, writeLocal } from '../../../config/local-file.ts';
import { parseConfig } from '../../../config/parse-config.ts';
import { rewriteFile } from '../../../config/rewrite-file.ts';
import { conflict, invalid } from '../../api/api-error.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { badFields } from './bad-fields.ts';

/** The text of the file, its values, and local changes (changes by Weir that could not be written to the file). */
export interface ReadConfigFile {
  readonly text: string;
  /** Values of the file without local changes. */
  readonly own: Values;
  readonly local: LocalConfig;
  readonly localText: string;
}

/** A change of the files. */
export interface WrittenConfig {
  /** Keys that are local changes now. */
  readonly local: readonly string[];
  /** Undoes the change, unless the files have been changed again. */
  readonly undo: () => Promise<void>;
}

/** The configuration file. If a method fails, it throws an API error and leaves the files unchanged. */
export class ConfigFile {
  private readonly path: string;
  private readonly name: string;
  private readonly localPath: string;

  constructor(name: string, dataDir: string) {
    this.name = name;
    this.path = resolve(name);
    this.localPath = localPath(resolve(dataDir));
  }

  /** Runs `work` while no other part of Weir changes the file. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return runInFileTurn(this.path, work);
  }

  /**
   * Reads the file and the local changes for writing; throws 409 with each error in them, or if one of the files cannot
   * be read.
   */
  async readToWrite(): Promise<ReadConfigFile> {
    const read = await this.readOrFaults();
    if (!Array.isArray(read)) return read;
    throw conflict(
      `the configuration file has errors; correct them first: ${read.map(formatFault).join('; ')}`,
    );
  }

  /**
   * Reads the file and the local changes; throws 400 with each error in them, or 409 if one of the files cannot be
   * read.
   */
  async read(): Promise<ReadConfigFile> {
    const read = await this.readOrFaults();
    if (!Array.isArray(read)) return read;
    const placed = read.map((fault) => {
      const line = fault.line === undefined ? '' : `, line ${fault.line}`;
      return { ...fault, message: `in the file ${fault.source}${line}: ${fault.message}` };
    });
    throw invalid(badFields(placed));
  }

  private async readOrFaults(): Promise<ReadConfigFile | ConfigFault[]> {
    const text = await this.orConflict('read', () => readFile(this.path, 'utf8'));
    const result = parseConfig({ file: { name: this.name, text: text.replace(/^\uFEFF/u, '') }, env: {} });
    const faults: ConfigFault[] = result.ok ? [] : [...result.faults];
    const found = await readLocal(this.localPath);
    if (found !== null && 'fault' in found)
      throw conflict(`could not read ${this.localPath}: ${found.fault}`);
    const local =
      found === null ? NOTHING_LOCAL : parseLocal({ name: this.localPath, text: found.text }, faults);
    if (faults.length === 0 && result.ok)
      return { text, own: result.value.given.file, local, localText: found?.text ?? '' };
    return faults;
  }

  /**
   * Writes these values into the file, or to the local changes if the file cannot be written. throws 409 if neither is
   * possible.
   */
  async write(read: ReadConfigFile, values: Values): Promise<WrittenConfig> {
    const { text, own, localText: before } = read;
    const changes = Object.entries(values).map(([name, value]) => ({ path: name.split('.'), value }));
    const edited = editToml(text, changes);
    if (edited === null)
      throw conflict(
        `Weir cannot edit the configuration file ${this.name}, because of its form; change the file with an ` +
          'editor',
      );
    const local = effectiveLocal(read.local, own);
    if (
      await this.tryRewrite(
        text,
        edited,
        Object.entries(values).some(([name, value]) => isSecret(name) || hasCredentials(value)),
      )
    ) {
      const rest = Object.keys(local.values).filter((name) => !(name in values));
      const kept = { values: pickValues(local.values, rest), replaced: pickValues(local.replaced, rest) };
      const after = before === '' ? before : await this.rewriteLocal(kept, before);
      return { local: rest, undo: () => this.undo([text, edited], [before, after]) };
    }
    const replaced = { ...local.replaced, ...setValues(pickValues(own, Object.keys(values))) };
    const changed = { values: { ...local.values, ...values }, replaced };
    const after = await this.rewriteLocal(changed, before);
    return { local: Object.keys(changed.values), undo: () => this.undo([text, text], [before, after]) };
  }

  /** Writes the text to the file; false if Weir has no permission to write it. */
  private async tryRewrite(text: string, edited: string, hasNewSecret: boolean): Promise<boolean> {
    if (edited === text) return true;
    try {
      await rewriteFile(this.path, edited, hasNewSecret);
      return true;
    } catch (error) {
      if (isUnwritable(error)) return false;
      return this.orConflict('write', () => Promise.reject(error as Error));
    }
  }

  private async rewriteLocal(local: LocalConfig, before: string): Promise<string> {
    const text = localText(local);
    if (text === null) throw conflict(`could not write these values to ${this.localPath}`);
    if (text !== before) await this.orConflict('write', () => writeLocal(this.localPath, text));
    return text;
  }

  private async undo(
    [original, written]: readonly [string, string],
    [localBefore, localAfter]: readonly [string, string],
  ): Promise<void> {
    if (written !== original && (await readFile(this.path, 'utf8')) === written)
      await rewriteFile(this.path, original);
    if (localBefore === localAfter) return;
    const found = await readLocal(this.localPath);
    const now = found === null ? '' : 'text' in found ? found.text : null;
    if (now === localAfter) await writeLocal(this.localPath, localBefore);
  }

  private async orConflict<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
      throw conflict(`could not ${what} the configuration file, so nothing was changed: ${error.message}`);
    }
  }
}

/** Whether a URL in a value contains a password or a key, which readers of the configuration must not see. */
function hasCredentials(value: unknown): boolean {
  if (typeof value === 'string') return shownUrl(value) !== value;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasCredentials);
}
