/**
 * Parses the text of a file and an environment; the result is a configuration or a list of all errors. Pure functions;
 * `load-config.ts` finds and reads the file.
 */
import { isTable } from './config-fault.ts';
import type { ConfigFault } from './config-fault.ts';
import { readEnvironment } from './environment.ts';
import { faultsOf, parsing } from './issues.ts';
import type { Place } from './issues.ts';
import { keysOf } from './keys.ts';
import { treeOf, valuesOf } from './layers.ts';
import type { Values } from './layers.ts';
import { NOTHING_LOCAL, effectiveLocal, parseLocal, withLocal } from './local-config.ts';
import { indexLines } from './line-index.ts';
import { parseToml } from './parse-toml.ts';
import { schema } from './schema.ts';
import type { Config } from './schema.ts';
import { keys } from './sections.ts';

/** A configuration that passed every check. */
export interface LoadedConfig {
  readonly config: Config;
  /** The configuration file; undefined if there are only defaults. */
  readonly file: string | undefined;
  /** Paths of the keys that the file or the environment sets, such as `server.dns_port`. */
  readonly explicit: ReadonlySet<string>;
  /** Values of the file, with local changes, and of the environment, by key. */
  readonly given: Given;
}

/** Values on this node, which are not in the database. */
export interface Given {
  readonly file: Values;
  /** Keys whose values in `file` are local changes (`local-config.ts`). */
  readonly local?: readonly string[];
  readonly environment: Values;
}

/** Result of loading a configuration. */
export type ConfigResult =
  | { readonly ok: true; readonly value: LoadedConfig }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** A text, and the name of its file. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Inputs of a configuration. */
export interface ConfigInput {
  /** The TOML text and the name of its file; undefined without a file. */
  readonly file: NamedText | undefined;
  /** Local changes (`local-config.ts`), if there are any. */
  readonly local?: NamedText | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PLACED = keysOf(keys).map((placed) => ({ ...placed, at: placed.path.join('.') }));

/** Parses, checks and completes a configuration. All errors are reported together. */
export function parseConfig({ file, local, env }: ConfigInput): ConfigResult {
  const faults: ConfigFault[] = [];
  const { name, text } = file ?? { name: 'defaults', text: '' };
  const lines = indexLines(text);
  const fromFile = parseToml(name, text, lines, faults);
  const inFile = (path: string): Place => ({ source: name, line: lines.lineOf(path), key: path });
  faults.push(...faultsOf(keys.safeParse(fromFile, parsing), inFile));
  faults.sort((left, right) => (left.line ?? 0) - (right.line ?? 0));

  const changes = local === undefined ? NOTHING_LOCAL : parseLocal(local, faults);
  const active = Object.keys(effectiveLocal(changes, valuesOf(fromFile)).values);
  const environment = readEnvironment(env, faults);
  const place = (path: string): Place => {
    const [key = ''] = /^[^[]*/u.exec(path) ?? [];
    const variable = environment.names.get(key);
    if (variable === undefined)
      return active.includes(key) ? { source: local!.name, line: undefined, key: path } : inFile(path);
    // In a message, the path within the value follows the name of the variable.
    return { source: 'environment', line: undefined, key: variable + path.slice(key.length) };
  };
  faults.push(...faultsOf(keys.safeParse(environment.raw, parsing), place));
  if (faults.length > 0) return { ok: false, faults };

  const withChanges = withLocal(valuesOf(fromFile), changes);
  const raw = merge(treeOf(withChanges), environment.raw);
  const whole = schema.safeParse(raw, parsing);
  if (!whole.success) return { ok: false, faults: faultsOf(whole, place) };
  const explicit = PLACED.filter(({ path }) => isGiven(raw, path));
  return {
    ok: true,
    value: {
      config: whole.data,
      file: file?.name,
      explicit: new Set(explicit.map(({ at }) => at)),
      given: { file: withChanges, local: active, environment: valuesOf(environment.raw) },
    },
  };
}

/** Merges `over` into `under`: tables are merged, other values are replaced. */
function merge(under: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isTable(value) && isTable(below) ? merge(below, value) : value;
  }
  return merged;
}

function isGiven(raw: Record<string, unknown>, path: readonly string[]): boolean {
  const [head = '', ...rest] = path;
  if (!Object.hasOwn(raw, head)) return false;
  const value = raw[head];
  return rest.length === 0 || (isTable(value) && isGiven(value, rest));
}
