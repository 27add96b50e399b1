/**
 * Finds the configuration file, reads it and the local changes, and passes both to `parse-config.ts`, together with the
 * environment. The first of these files is used: the file on the command line, `$WEIR_CONFIG`, `./config/weir.toml`,
 * `/etc/weir/weir.toml`. There may be none.
 */
import { lstat, readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ConfigFault } from './config-fault.ts';
import { localPath } from './local-config.ts';
import { readLocal } from './local-file.ts';
import { parseConfig } from './parse-config.ts';
import type { ConfigInput, ConfigResult, NamedText } from './parse-config.ts';
import type { Config } from './schema.ts';
import { usableConfig } from './usable-config.ts';
import type { UsableConfig } from './usable-config.ts';

/** Location of the configuration. */
export interface ConfigSource {
  /** The file from the command line; it must exist. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Base directory of relative paths. */
  readonly cwd: string;
}

/** Default paths of the configuration file. */
export const DEFAULT_FILES = ['config/weir.toml', '/etc/weir/weir.toml'] as const;

/** Loads the configuration. Errors are in the result and never thrown. */
export async function loadConfig(source: ConfigSource): Promise<ConfigResult> {
  const found = await findFile(source);
  if ('fault' in found) return { ok: false, faults: [found.fault] };
  const result = parseConfig(found);
  if (!result.ok) return result;
  const local = await localOf(result.value.config, source);
  if (local === undefined) return result;
  return 'fault' in local ? { ok: false, faults: [local.fault] } : parseConfig({ ...found, local });
}

/** Loads the usable part of a configuration that may contain errors. */
export async function loadUsable(source: ConfigSource): Promise<UsableConfig> {
  const found = await findFile(source);
  const input = 'fault' in found ? { file: undefined, env: source.env } : found;
  const usable = usableConfig(input);
  if ('fault' in found)
    return { ...usable, isDataDirKnown: usable.explicit.has('server.data_dir') && usable.isDataDirKnown };
  const local = usable.isDataDirKnown ? await localOf(usable.config, source) : undefined;
  return local === undefined || 'fault' in local ? usable : usableConfig({ ...input, local });
}

/** The file to read, or the reason why it cannot be read. */
async function findFile({ file, env, cwd }: ConfigSource): Promise<ConfigInput | { fault: ConfigFault }> {
  const named = file ?? (env['WEIR_CONFIG'] === '' ? undefined : env['WEIR_CONFIG']);
  for (const name of named === undefined ? DEFAULT_FILES : [named]) {
    const read = await readText(resolve(cwd, name));
    if (read.fault === undefined) {
      const input = { file: { name, text: read.text }, env };
      const dataDir = usableConfig(input).config.server.data_dir;
      const isFoundHere = named === undefined && name === DEFAULT_FILES[0];
      const why = isFoundHere ? await distrustOf(resolve(cwd, name), { cwd, dataDir }) : null;
      return why === null ? input : { fault: unreadable(name, why) };
    }
    if (named !== undefined || read.fault !== MISSING) return { fault: unreadable(name, read.fault) };
  }
  return { file: undefined, env };
}

const OTHERS_WRITE = 0o002;

/**
 * Reason why root must not use a configuration file that was found in the working directory; null if root may use it. A
 * file that belongs to another user could send commands and passwords of root to another server.
 *
 * The owner of the data directory is also trusted. But the file itself contains the path of that directory, so this
 * only applies if the working directory belongs to root or to the owner of this program, whose code root already runs.
 */
async function distrustOf(
  path: string,
  { cwd, dataDir }: { readonly cwd: string; readonly dataDir: string },
): Promise<string | null> {
  if (process.geteuid?.() !== 0) return null;
  const named = 'name it with --config to use it';
  const owners = [0, (await stat(import.meta.dirname)).uid];
  const folder = await stat(cwd);
  if (!owners.includes(folder.uid) || (folder.mode & OTHERS_WRITE) !== 0) {
    const whose = owners.includes(folder.uid) ? 'every user can write' : `user id ${folder.uid} owns`;
    return `${whose} the folder ${cwd}; ${named}`;
  }
  owners.push(await ownerOf(resolve(cwd, dataDir)));
  // A link is trusted only if both the link and its target are.
  for (const found of [await stat(dirname(path)), await lstat(path), await stat(path)]) {
    if (!owners.includes(found.uid))
      return `it belongs to user id ${found.uid}, and not to root or the owner of the data directory; ${named}`;
    if ((found.mode & OTHERS_WRITE) !== 0 && !found.isSymbolicLink())
      return `every user can write to it; run chmod o-w, or ${named}`;
  }
  return null;
}

/** The owner of a directory or, if it does not exist yet, of its closest existing parent. */
async function ownerOf(directory: string): Promise<number> {
  for (let at = resolve(directory); ; at = dirname(at)) {
    const found = await stat(at).catch(() => null);
    if (found !== null) return found.uid;
    if (at === dirname(at)) return 0;
  }
}

/** Reads the local changes from the data directory. */
async function localOf(
  config: Config,
  { cwd }: ConfigSource,
): Promise<NamedText | { fault: ConfigFault } | undefined> {
  const name = localPath(resolve(cwd, config.server.data_dir));
  const local = await readLocal(name);
  if (local === null) return undefined;
  return 'fault' in local ? { fault: unreadable(name, local.fault) } : { name, text: local.text };
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
      return 'a directory, not a file';
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
  return { source, line: undefined, key: '', message: `could not read the configuration file: ${why}` };
}
