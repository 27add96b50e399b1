/**
 * From the text of a file and an environment to a configuration or the list of everything that is wrong
 * with it. Pure: finding and reading the file is `load-config.ts`.
 */
import { HIDDEN, describe } from './config-fault.ts';
import type { ConfigFault } from './config-fault.ts';
import { keysOf, readEnvironment } from './environment.ts';
import { isTable, readSection } from './key-kinds.ts';
import type { Report } from './key-kinds.ts';
import { checkRules } from './key-rules.ts';
import { indexLines } from './line-index.ts';
import { parseToml } from './parse-toml.ts';
import { STRATEGIES, schema } from './schema.ts';
import type { Config } from './schema.ts';

/** A configuration that passed every check. */
export interface LoadedConfig {
  readonly config: Config;
  /** The file it came from; undefined where the defaults stand for a file. */
  readonly file: string | undefined;
  /** Paths of the keys that the file or the environment set, such as `server.dns_port`. */
  readonly explicit: ReadonlySet<string>;
  /** Those of them that this version does nothing with, sorted. */
  readonly withoutEffect: readonly string[];
}

/** What loading ends with. */
export type ConfigResult =
  | { readonly ok: true; readonly value: LoadedConfig }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

/** What a configuration is made from. */
export interface ConfigInput {
  /** The TOML text and the name of its file; undefined for no file at all. */
  readonly file: { readonly name: string; readonly text: string } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PLACED = keysOf(schema).map(({ path, key }) => ({ at: path.join('.'), path, key }));

/** Reads, checks and completes a configuration; every fault is found in one go. */
export function parseConfig({ file, env }: ConfigInput): ConfigResult {
  const faults: ConfigFault[] = [];
  const { name, text } = file ?? { name: 'defaults', text: '' };
  const lines = indexLines(text);
  const inFile = reporter(faults, (path) => ({ source: name, line: lines.lineOf(path) }));
  const fromFile = parseToml(name, text, lines, faults);
  readSection(schema, fromFile, '', inFile);

  const inEnvironment = reporter(faults, () => ({ source: 'environment', line: undefined }));
  const environment = readEnvironment(env, inEnvironment);
  const nameOf = (path: string): string => renamed(path, environment.names);
  const byVariable: Report = (path, expected, got) =>
    inEnvironment(nameOf(path), expected, isSecret(path) ? HIDDEN : got);
  readSection(schema, environment.raw, '', byVariable);
  if (faults.length > 0) return { ok: false, faults };

  const raw = merge(fromFile, environment.raw);
  const config = expandDataDir(readSection(schema, inheritStrategy(raw), '', inFile));
  checkRules(config, (path, expected, got) => {
    const report = nameOf(path) === path ? inFile : byVariable;
    report(path, expected, got);
  });
  if (faults.length > 0) return { ok: false, faults };
  const explicit = new Set(PLACED.filter(({ path }) => isGiven(raw, path)).map(({ at }) => at));
  const withoutEffect = PLACED.filter(({ at, key }) => key.isNotYet === true && explicit.has(at)).map(
    ({ at }) => at,
  );
  return {
    ok: true,
    value: { config: freeze(config), file: file?.name, explicit, withoutEffect: withoutEffect.sort() },
  };
}

function isSecret(path: string): boolean {
  return PLACED.some(({ at, key }) => key.secret === true && (path === at || path.startsWith(`${at}[`)));
}

function reporter(
  faults: ConfigFault[],
  place: (path: string) => { readonly source: string; readonly line: number | undefined },
): Report {
  return (path, expected, got) => {
    const shown = isSecret(path) && got !== undefined ? HIDDEN : got;
    faults.push({ ...place(path), key: path, message: describe(expected, shown) });
  };
}

/** A path inside a key that a variable set, with the variable's name in front. */
function renamed(path: string, names: ReadonlyMap<string, string>): string {
  const [key = ''] = /^[^[]+/u.exec(path) ?? [];
  const name = names.get(key);
  return name === undefined ? path : name + path.slice(key.length);
}

/** `over` on top of `under`; lists are replaced, tables are merged. */
function merge(under: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isTable(value) && isTable(below) ? merge(below, value) : value;
  }
  return merged;
}

/** Pools that name no strategy get `dns.default_strategy`; so do the pools of the default. */
function inheritStrategy(raw: Record<string, unknown>): Record<string, unknown> {
  const dns = isTable(raw['dns']) ? raw['dns'] : {};
  const { default_strategy: key, pools: poolsKey } = schema.keys.dns.keys;
  const inherited = dns['default_strategy'] ?? key.default;
  if (!STRATEGIES.some((strategy) => strategy === inherited)) return raw;
  const given: unknown = dns['pools'] ?? poolsKey.default.map(({ strategy: _, ...pool }) => pool);
  if (!Array.isArray(given)) return raw;
  const pools = given.map((pool: unknown) => (isTable(pool) ? { strategy: inherited, ...pool } : pool));
  return { ...raw, dns: { ...dns, pools } };
}

function expandDataDir(config: Config): Config {
  const expand = (dir: string): string => dir.replace(/^<data_dir>/u, config.server.data_dir);
  return { ...config, blocking: { ...config.blocking, list_dirs: config.blocking.list_dirs.map(expand) } };
}

function isGiven(raw: Record<string, unknown>, path: readonly string[]): boolean {
  const [head = '', ...rest] = path;
  if (!Object.hasOwn(raw, head)) return false;
  const value = raw[head];
  return rest.length === 0 || (isTable(value) && isGiven(value, rest));
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
