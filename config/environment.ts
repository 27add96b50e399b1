/**
 * Reads the environment variables that override keys: `WEIR_<SECTION>_<KEY>`, such as `WEIR_SERVER_WEB_PORT` and
 * `WEIR_DNS_RATE_LIMIT_ENABLED`. Converts their text to values of the types that the schema requires; the schema then
 * checks these values.
 */
import type { z } from 'zod';
import type { ConfigFault } from './config-fault.ts';
import { keysOf, shapeOf, withoutDefault } from './keys.ts';
import { keys } from './sections.ts';

/** Values from the environment, as a tree like that of the file, with the names of their variables. */
export interface EnvironmentValues {
  readonly raw: Record<string, unknown>;
  /** Names of the variables by the paths of their keys. */
  readonly names: ReadonlyMap<string, string>;
}

/** Name of the variable that overrides the key at `path`. */
export function variableOf(path: readonly string[]): string {
  return `WEIR_${path.join('_').toUpperCase()}`;
}

/**
 * Reads overrides from `env`. A variable that starts with `WEIR_` and the name of a section but matches no key is
 * reported in `faults` as a spelling mistake. Other `WEIR_` variables are ignored.
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  faults: ConfigFault[],
): EnvironmentValues {
  const known = new Map(keysOf(keys).map((placed) => [variableOf(placed.path), placed]));
  const sections = Object.keys(shapeOf(keys)).map((name) => `WEIR_${name.toUpperCase()}_`);
  const raw: Record<string, unknown> = {};
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const placed = known.get(name);
    if (placed !== undefined) {
      names.set(placed.path.join('.'), name);
      put(raw, placed.path, valueOfText(value, placed.schema));
    } else if (sections.some((prefix) => name.startsWith(prefix)) && !isServiceLink(name)) {
      const message = 'no such key; variables are WEIR_<SECTION>_<KEY>';
      faults.push({ source: 'environment', line: undefined, key: name, message });
    }
  }
  return { raw, names };
}

/** Parses a text as the value of this key, as for its environment variable; undefined if there is no such key. */
export function readValue(name: string, text: string): { readonly value: unknown } | undefined {
  const placed = keysOf(keys).find(({ path }) => path.join('.') === name);
  return placed && { value: valueOfText(text, placed.schema) };
}

/** Parses a text as a value. If the text is invalid, it is returned unchanged, so that the schema rejects it. */
function valueOfText(value: string, schema: z.core.$ZodType): unknown {
  const def = withoutDefault(schema);
  switch (def.type) {
    case 'boolean':
      if (/^(true|1)$/iu.test(value)) return true;
      return /^(false|0)$/iu.test(value) ? false : value;
    case 'number':
      return /^-?\d{1,15}$/u.test(value) ? Number(value) : value;
    case 'array':
      if (value.trimStart().startsWith('[') || withoutDefault(def.element).type !== 'string')
        return fromJson(value);
      return value === '' ? [] : value.split(',').map((entry) => entry.trim());
    default:
      return value;
  }
}

function fromJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value; // The text is not JSON; the schema then reports the expected type and this text.
  }
}

function put(raw: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path;
  if (rest.length === 0) raw[head] = value;
  else put((raw[head] ??= {}) as Record<string, unknown>, rest, value);
}

/**
 * Whether Kubernetes may have set the variable: for a service named `weir-dns`, it sets variables such as
 * `WEIR_DNS_SERVICE_HOST`.
 */
function isServiceLink(name: string): boolean {
  return /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)$/u.test(
    name,
  );
}
