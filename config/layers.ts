/**
 * The layers of a configuration: values by key from the file, from the rows of the cluster, and from the environment.
 * Determines from which layer each value is taken. Pure functions; `parse-config.ts` reads the file and the
 * environment.
 */
import { FILE_ONLY_KEYS } from '../shared/policy/file-only-keys.ts';
import { isTable } from './config-fault.ts';
import type { ConfigFault } from './config-fault.ts';
import { faultsOf, parsing } from './issues.ts';
import { keysOf } from './keys.ts';
import { schema } from './schema.ts';
import type { Config } from './schema.ts';
import { keys } from './sections.ts';

/** Values as they are written, by the path of their key (such as `server.web_port`). */
export type Values = Readonly<Record<string, unknown>>;

/** Values by their source. */
export interface Layers {
  /** Values of the configuration file, with local changes. */
  readonly file: Values;
  /** Keys whose values in `file` are local changes. */
  readonly local?: readonly string[];
  readonly rows: Values;
  readonly environment: Values;
}

/** The layer from which a value is taken. */
export type Source = 'default' | 'file' | 'local_file' | 'environment' | 'database';

const PLACED = keysOf(keys).map((placed) => ({ ...placed, name: placed.path.join('.') }));

export const KEY_NAMES: readonly string[] = PLACED.map(({ name }) => name);

const RESTART = new Set(PLACED.flatMap(({ name, notes }) => (notes.restart === true ? [name] : [])));
const SECRET = new Set(PLACED.flatMap(({ name, notes }) => (notes.secret === true ? [name] : [])));
/**
 * Keys of a node in other sections than `[server]` and `[logging]`, because each node has its own disk, memory and
 * database connection.
 */
const NODE_KEYS = new Set(PLACED.flatMap(({ name, notes }) => (notes.perNode === true ? [name] : [])));

/** Whether a key is only in the file of a node. Other keys apply to the whole cluster. */
export function isNodeKey(name: string): boolean {
  return /^(?:server|logging)\./u.test(name) || NODE_KEYS.has(name);
}

/** Whether a key of a node can only be changed in the file by an administrator, not by Weir. */
export function isFileOnly(name: string): boolean {
  return FILE_ONLY_KEYS.includes(name);
}

/** Whether a change of the key takes effect at the next start. */
export function needsRestart(name: string): boolean {
  return RESTART.has(name);
}

/** Whether the value of the key is never shown. */
export function isSecret(name: string): boolean {
  return SECRET.has(name);
}

/** The values of a tree of sections. */
export function valuesOf(tree: unknown): Values {
  const found = PLACED.flatMap(({ name, path }) => {
    const value = path.reduce<unknown>((inner, step) => (isTable(inner) ? inner[step] : undefined), tree);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/** Only the values of keys of the cluster. */
export function clusterValues(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !isNodeKey(name)));
}

/** Only the values of keys of the node. */
export function nodeValues(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isNodeKey(name)));
}

/** The values of node keys that differ from `before`; undefined resets a key to its default. */
export function nodeDifferences(before: Values, after: Values): Values {
  return pickValues(after, differingKeys(before, after).filter(isNodeKey));
}

/** The layer from which the value of a key is taken. */
export function sourceOf({ file, local = [], rows, environment }: Layers, name: string): Source {
  if (name in environment) return 'environment';
  if (isNodeKey(name)) return local.includes(name) ? 'local_file' : name in file ? 'file' : 'default';
  return name in rows ? 'database' : 'default';
}

/** The effective values; keys that have their default are omitted. */
export function decidingValues(layers: Layers): Values {
  const found = KEY_NAMES.flatMap((name) => {
    const source = sourceOf(layers, name);
    if (source === 'default') return [];
    const layer = { database: layers.rows, environment: layers.environment, file: layers.file }[
      source === 'local_file' ? 'file' : source
    ];
    const value = layer[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/**
 * The layers after a change of these values; undefined resets a key to its default. `rows` are the cluster's values
 * before the change.
 */
export function layersWith(layers: Layers, rows: Values, values: Values): Layers {
  return {
    ...layers,
    file: setValues({ ...layers.file, ...values }),
    rows: setValues({ ...rows, ...clusterValues(values) }),
  };
}

/** Values as a tree of sections. */
export function treeOf(values: Values): Readonly<Record<string, unknown>> {
  const tree: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) put(tree, name.split('.'), value);
  return tree;
}

/** The configuration with these values, or its errors. */
export function configOf(values: Values): { config: Config } | { faults: readonly ConfigFault[] } {
  const whole = schema.safeParse(treeOf(values), parsing);
  if (whole.success) return { config: whole.data };
  return { faults: faultsOf(whole, (key) => ({ source: 'configuration', line: undefined, key })) };
}

/** Whether two values are equal, ignoring the order of keys in tables. */
export function isSameValue(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((entry, at) => isSameValue(entry, right[at]));
  if (!isTable(left) || !isTable(right)) return left === right;
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => isSameValue(left[name], right[name]));
}

/** The values of these keys. */
export function pickValues(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** The values without those that are undefined. */
export function setValues(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Names of the keys whose values differ. */
export function differingKeys(left: Values, right: Values): string[] {
  return KEY_NAMES.filter((name) => !isSameValue(left[name], right[name]));
}

function put(tree: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path;
  if (rest.length === 0) tree[head] = value;
  else put((tree[head] ??= {}) as Record<string, unknown>, rest, value);
}
