/**
 * `<data_dir>/weir.local.toml`: changes that Weir could not write to its configuration file, which may belong to root.
 * For each key, this file takes precedence until a user edits the key in the configuration file. To detect such edits,
 * it also contains the values that the configuration file had when a change was written. Pure functions;
 * `local-file.ts` reads and writes the file.
 */
import { join } from 'node:path';
import { isTable } from './config-fault.ts';
import type { ConfigFault } from './config-fault.ts';
import { editToml } from './edit-toml.ts';
import { faultsOf, parsing } from './issues.ts';
import { isFileOnly, isSameValue, pickValues, valuesOf } from './layers.ts';
import type { Values } from './layers.ts';
import { indexLines } from './line-index.ts';
import { parseToml } from './parse-toml.ts';
import { keys } from './sections.ts';

/** Local changes, by the names of keys. */
export interface LocalConfig {
  /** The new values; undefined means the default. */
  readonly values: Values;
  /** Values in the configuration file when the change was written; absent keys were not set there. */
  readonly replaced: Values;
}

export const NOTHING_LOCAL: LocalConfig = { values: {}, replaced: {} };

const HEADER = `# Written by Weir, for changes that it could not write into its configuration file. A key that is edited there
# afterwards wins. To undo all changes, remove this file and restart Weir.
`;
/** Name of the section with information about the changes, which contains no keys of the configuration. */
const NOTES = 'weir';

/** Path of the file with local changes. */
export function localPath(dataDir: string): string {
  return join(dataDir, 'weir.local.toml');
}

/** Parses the text of the file with this name; adds errors to `faults`. */
export function parseLocal(
  { name, text }: { readonly name: string; readonly text: string },
  faults: ConfigFault[],
): LocalConfig {
  const lines = indexLines(text);
  const { [NOTES]: notes, ...tree } = parseToml(name, text, lines, faults);
  const place = (key: string): Pick<ConfigFault, 'source' | 'line' | 'key'> => ({
    source: name,
    line: lines.lineOf(key),
    key,
  });
  faults.push(...faultsOf(keys.safeParse(tree, parsing), place));
  const values = valuesOf(tree);
  for (const key of Object.keys(values).filter(isFileOnly))
    faults.push({ ...place(key), message: 'can only be set in the configuration file' });
  const { replaced, defaults } = readNotes(notes, () =>
    faults.push({ ...place(NOTES), message: 'expected unchanged text that Weir wrote' }),
  );
  return { values: { ...values, ...pickValues({}, defaults) }, replaced };
}

function readNotes(
  notes: unknown,
  markDamaged: () => void,
): { readonly replaced: Values; readonly defaults: readonly string[] } {
  const { replaced = '{}', defaults = '[]' } = isTable(notes) ? notes : {};
  try {
    const values: unknown = JSON.parse(String(replaced));
    const names: unknown = JSON.parse(String(defaults));
    if (isTable(values) && Array.isArray(names) && names.every((name) => typeof name === 'string'))
      return { replaced: values, defaults: names.filter((name) => !isFileOnly(name)) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  markDamaged();
  return { replaced: {}, defaults: [] };
}

/**
 * The effective changes: those of keys whose values in the configuration file are the same as when the change was
 * written.
 */
export function effectiveLocal({ values, replaced }: LocalConfig, file: Values): LocalConfig {
  const names = Object.keys(values).filter((name) => isSameValue(replaced[name], file[name]));
  return { values: pickValues(values, names), replaced: pickValues(replaced, names) };
}

/** Values of the configuration file with the effective changes. */
export function withLocal(file: Values, local: LocalConfig): Values {
  const merged = { ...file, ...effectiveLocal(local, file).values };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}

/** Text of the file with these changes; null if a change cannot be written, '' if there are no changes. */
export function localText({ values, replaced }: LocalConfig): string | null {
  const names = Object.keys(values);
  if (names.length === 0) return '';
  const defaults = names.filter((name) => values[name] === undefined);
  return editToml(HEADER, [
    ...names
      .filter((name) => values[name] !== undefined)
      .map((name) => ({ path: name.split('.'), value: values[name] })),
    { path: [NOTES, 'replaced'], value: JSON.stringify(replaced) },
    { path: [NOTES, 'defaults'], value: JSON.stringify(defaults) },
  ]);
}
