/**
 * Determines the usable part of a configuration that may contain errors: all keys that are valid in themselves. For
 * commands that need only a few keys, such as the data directory. Pure functions; `load-config.ts` reads the files.
 */
import { z } from 'zod';
import type { ConfigFault } from './config-fault.ts';
import { readEnvironment } from './environment.ts';
import { keysOf } from './keys.ts';
import { configOf, pickValues, valuesOf } from './layers.ts';
import type { Values } from './layers.ts';
import { indexLines } from './line-index.ts';
import { NOTHING_LOCAL, parseLocal, withLocal } from './local-config.ts';
import type { ConfigInput } from './parse-config.ts';
import { parseToml } from './parse-toml.ts';
import type { Config } from './schema.ts';
import { keys } from './sections.ts';

/** The usable part of a configuration. Keys with errors have their defaults. */
export interface UsableConfig {
  readonly config: Config;
  /** Paths of the keys that the file or the environment sets. */
  readonly explicit: ReadonlySet<string>;
  /** False if the actual data directory may differ from the one in `config`. */
  readonly isDataDirKnown: boolean;
}

const DATA_DIR = 'server.data_dir';
/** Keys that are used even if other keys contradict each other. */
const RECOVERY_KEYS = [DATA_DIR, 'server.alt_compat', 'logging.format', 'logging.level'];
/** Matches a line that sets the data directory in any notation of TOML. */
const SETS_DATA_DIR = /^[^#\n]*\bdata_dir\b[^#\n]*=/mu;
/** Maximum number of lines that are removed to get valid TOML. */
const MAX_LOST_LINES = 100;

const SCHEMAS = new Map(keysOf(keys).map(({ path, schema }) => [path.join('.'), schema]));

/** Reads the valid keys; never fails. */
export function usableConfig({ file, local, env }: ConfigInput): UsableConfig {
  const text = file?.text ?? '';
  const environment = goodValues(valuesOf(readEnvironment(env, []).raw));
  const changes = local === undefined ? NOTHING_LOCAL : parseLocal(local, []);
  const inFile = goodValues(withLocal(valuesOf(readableTree(text)), changes));
  const values = { ...inFile, ...environment };
  const config = configFrom(values) ?? configFrom(pickValues(values, RECOVERY_KEYS));
  if (config === null) throw new Error('the default values of the configuration contradict each other');
  return {
    config,
    explicit: new Set(Object.keys(values)),
    isDataDirKnown: DATA_DIR in values || !(SETS_DATA_DIR.test(text) || 'WEIR_SERVER_DATA_DIR' in env),
  };
}

/** The values that are valid in themselves. */
function goodValues(values: Values): Values {
  const good = Object.entries(values).filter(([name, value]) => {
    const schema = SCHEMAS.get(name);
    return schema !== undefined && z.safeParse(schema, value).success;
  });
  return Object.fromEntries(good);
}

/** The configuration without keys that contradict other keys; null if it is still invalid. */
function configFrom(values: Values): Config | null {
  const result = configOf(values);
  if ('config' in result) return result.config;
  const wrong = new Set(result.faults.map(({ key }) => key.replace(/\[.*$/u, '')));
  const rest = Object.entries(values).filter(([name]) => !wrong.has(name));
  return rest.length === Object.keys(values).length ? null : configFrom(Object.fromEntries(rest));
}

/** Parses a text without its invalid lines. */
function readableTree(text: string): Record<string, unknown> {
  const lines = text.split('\n');
  for (let lost = 0; lost < MAX_LOST_LINES; lost++) {
    const rest = lines.join('\n');
    const faults: ConfigFault[] = [];
    const tree = parseToml('', rest, indexLines(rest), faults);
    if (faults.length === 0) return tree;
    const at = (faults[0]!.line ?? lines.length) - 1;
    // The parser may report a line after the invalid one, which may already be removed or be empty; the text is then
    // truncated.
    if (lines[at] === undefined || lines[at] === '') lines.length = Math.min(at, lines.length - 1);
    else lines[at] = '';
  }
  return {};
}
