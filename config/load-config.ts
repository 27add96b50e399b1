/**
 * Finds the configuration file, reads it and the local changes, and hands both to `parse-config.ts` with the environment.
 * The order: the file that was named, `$WEIR_CONFIG`, `./config/weir.toml`, `/etc/weir/weir.toml`, none.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfigFault } from './config-fault.ts';
import { localPath } from './local-config.ts';
import { readLocal } from './local-file.ts';
import { parseConfig } from './parse-config.ts';
import type { ConfigInput, ConfigResult } from './parse-config.ts';

/** Where to look. */
export interface ConfigSource {
  /** The file named on the command line; it must exist. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from. */
  readonly cwd: string;
}

/** The default places of the file. */
export const DEFAULT_FILES = ['config/weir.toml', '/etc/weir/weir.toml'] as const;

/** Loads the configuration; every fault is in the result, none is thrown. */
export async function loadConfig({ file, env, cwd }: ConfigSource): Promise<ConfigResult> {
  const named = file ?? (env['WEIR_CONFIG'] === '' ? undefined : env['WEIR_CONFIG']);
  for (const name of named === undefined ? DEFAULT_FILES : [named]) {
    const read = await readText(resolve(cwd, name));
    if (read.fault === undefined) return withLocalChanges({ file: { name, text: read.text }, env }, cwd);
    if (named !== undefined || read.fault !== MISSING)
      return { ok: false, faults: [unreadable(name, read.fault)] };
  }
  return withLocalChanges({ file: undefined, env }, cwd);
}

/** The configuration with the local changes, which lie in the data directory that it names. */
async function withLocalChanges(input: ConfigInput, cwd: string): Promise<ConfigResult> {
  const result = parseConfig(input);
  if (!result.ok) return result;
  const name = localPath(resolve(cwd, result.value.config.server.data_dir));
  const local = await readLocal(name);
  if (local === null) return result;
  if ('fault' in local) return { ok: false, faults: [unreadable(name, local.fault)] };
  return parseConfig({ ...input, local: { name, text: local.text } });
}

const MISSING = 'no such file';

type ReadText = { readonly text: string; readonly fault?: never } | { readonly fault: string };

async function readText(path: string): Promise<ReadText> {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)) };
  } catch (error) {
    return { fault: reason(error) };
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  const code = (error as NodeJS.ErrnoException).code;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return MISSING;
    case 'EISDIR':
      return 'a folder, not a file';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'its bytes are not UTF-8';
    default:
      return error.message;
  }
}

function unreadable(source: string, why: string): ConfigFault {
  return { source, line: undefined, key: '', message: `cannot read the configuration file: ${why}` };
}
