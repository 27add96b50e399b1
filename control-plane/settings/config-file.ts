/** The configuration file of this node: read again, and edited in place. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { editToml } from '../../config/edit-toml.ts';
import { inFileTurn } from '../../config/file-turns.ts';
import type { Values } from '../../config/layers.ts';
import { parseConfig } from '../../config/parse-config.ts';
import { rewriteFile } from '../../config/rewrite-file.ts';
import { conflict, invalid } from '../api/api-error.ts';
import { badFields } from './bad-fields.ts';

/** A text of the file, and what it says. */
export interface ReadConfigFile {
  readonly text: string;
  readonly values: Values;
}

/** The file; every method refuses as an API error, and then the file is as it was. */
export class ConfigFile {
  private readonly path: string;
  private readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.path = resolve(name);
  }

  /** Runs `work` while no one else of Weir changes the file. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return inFileTurn(this.path, work);
  }

  /** Reads the file; 400 with each of its faults, 409 if it cannot be read. */
  async read(): Promise<ReadConfigFile> {
    const text = await this.orConflict('read', () => readFile(this.path, 'utf8'));
    const result = parseConfig({ file: { name: this.name, text: text.replace(/^\uFEFF/u, '') }, env: {} });
    if (result.ok) return { text, values: result.value.given.file };
    const placed = result.faults.map((fault) => {
      const line = fault.line === undefined ? '' : `, line ${fault.line}`;
      return { ...fault, message: `in the file ${this.name}${line}: ${fault.message}` };
    });
    throw invalid(badFields(placed));
  }

  /** Writes these values into a text, and the text into the file; returns the text. 409 if either is not possible. */
  async write({ text }: ReadConfigFile, values: Values): Promise<string> {
    const changes = Object.entries(values).map(([name, value]) => ({ path: name.split('.'), value }));
    const edited = editToml(text, changes);
    if (edited === null)
      throw conflict(
        `the configuration file ${this.name} is written in a way that Weir cannot change; change it there`,
      );
    if (edited !== text) await this.orConflict('write', () => rewriteFile(this.path, edited));
    return edited;
  }

  /** Puts a text back if the file still has the other one. */
  async undo(written: string, original: string): Promise<void> {
    if (written === original || (await readFile(this.path, 'utf8')) !== written) return;
    await rewriteFile(this.path, original);
  }

  private async orConflict<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
      throw conflict(`cannot ${what} the configuration file, so nothing is changed: ${error.message}`);
    }
  }
}
