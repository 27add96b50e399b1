/**
 * The environment variables that override keys: `WEIR_<SECTION>_<KEY>`, as in `WEIR_SERVER_WEB_PORT` and
 * `WEIR_DNS_RATE_LIMIT_ENABLED`. Here they become values of the schema's shape, no more; whether a value
 * is a good one is for the schema to say.
 */
import type { Key, KeyShape, Report, SchemaNode } from './key-kinds.ts';
import { schema } from './schema.ts';

/** The values of the environment as a tree like that of the file, and who set what. */
export interface EnvironmentValues {
  readonly raw: Record<string, unknown>;
  /** Names of the variables by the paths of the keys they set. */
  readonly names: ReadonlyMap<string, string>;
}

/** A key and the path that leads to it. */
export interface PlacedKey {
  readonly path: readonly string[];
  readonly key: Key<unknown>;
}

/** Every key of the schema, in its order; keys of the tables in an array are part of the array's key. */
export function keysOf(node: SchemaNode, path: readonly string[] = []): PlacedKey[] {
  if (node.form === 'key') return [{ path, key: node }];
  return Object.entries(node.keys).flatMap(([name, child]) => keysOf(child, [...path, name]));
}

/** The name of the variable that overrides the key at `path`. */
export function variableOf(path: readonly string[]): string {
  return `WEIR_${path.join('_').toUpperCase()}`;
}

/**
 * Reads the overrides out of `env`. A variable that starts with `WEIR_` and a section's name but is no
 * key's goes to `report` as a spelling mistake; other `WEIR_` variables are somebody else's.
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  report: Report,
): EnvironmentValues {
  const known = new Map(keysOf(schema).map((placed) => [variableOf(placed.path), placed]));
  const sections = Object.keys(schema.keys).map((name) => `WEIR_${name.toUpperCase()}_`);
  const raw: Record<string, unknown> = {};
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const placed = known.get(name);
    if (placed !== undefined) {
      names.set(placed.path.join('.'), name);
      put(raw, placed.path, valueOfText(value, placed.key.shape));
    } else if (sections.some((prefix) => name.startsWith(prefix)) && !isServiceLink(name)) {
      report(name, 'no such key; variables are WEIR_<SECTION>_<KEY>', undefined);
    }
  }
  return { raw, names };
}

/** The value that a text stands for; where it stands for none, the text itself, for the schema to refuse. */
function valueOfText(value: string, shape: KeyShape): unknown {
  switch (shape) {
    case 'string':
      return value;
    case 'boolean':
      if (/^(true|1)$/iu.test(value)) return true;
      return /^(false|0)$/iu.test(value) ? false : value;
    case 'integer':
      return /^-?\d{1,15}$/u.test(value) ? Number(value) : value;
    case 'list':
      if (value.trimStart().startsWith('[')) return fromJson(value);
      return value === '' ? [] : value.split(',').map((entry) => entry.trim());
    case 'tables':
      return fromJson(value);
  }
}

function fromJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value; // not JSON: the schema names what was expected and shows the text
  }
}

function put(raw: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path;
  if (rest.length === 0) raw[head] = value;
  else put((raw[head] ??= {}) as Record<string, unknown>, rest, value);
}

/** Kubernetes tells a pod about a service named `weir-dns` in variables such as `WEIR_DNS_SERVICE_HOST`. */
function isServiceLink(name: string): boolean {
  return /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)$/u.test(
    name,
  );
}
