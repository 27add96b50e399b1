/**
 * A configuration schema for a server that ignores a key. The server reads the default value of the key, regardless of
 * where its value is set: file, environment, PATCH or rows of the cluster. Tests, the checks of the configuration and
 * the responses that show the key still see the set value, so that only a test of the effect can fail.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isSameValue } from '../../config/layers.ts';
import { schemaAt } from '../../config/keys.ts';
import { keys } from '../../config/sections.ts';
import type { schema } from '../../config/schema.ts';

type Table = Record<string, unknown>;
type SafeParse = typeof schema.safeParse;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OWN_FILE = 'test/mutants/ignoring-schema.ts';
/** Files that read the configuration without an effect on the server. */
const ONLOOKERS =
  /^(?:test|config)\/|\.test\.ts$|^control-plane\/(?:settings\/config-routes|audit\/masked-secrets)\.ts$/;

/** File with the currently ignored key, which all processes of this checkout read; empty = none. */
export const IGNORED_KEY_FILE = `${ROOT}data/ignored-key`;

/** The currently ignored key. */
export function ignoredKey(): string {
  return readFileSync(IGNORED_KEY_FILE, 'utf8');
}

/** The schema `given`, except that the server ignores the key that `keyNow` returns, such as `server.web_port`. */
export function ignoringSchema(
  given: Pick<typeof schema, 'safeParse'>,
  keyNow: () => string,
): { safeParse: SafeParse } {
  const safeParse = (raw: unknown, params: Parameters<SafeParse>[1]) => {
    const parsed = given.safeParse(raw, params);
    const key = keyNow();
    if (!parsed.success || key === '') return parsed;
    const path = key.split('.');
    // Parses the values again, because other keys may derive their values from the ignored key.
    const without = given.safeParse(changedAt(raw, path, undefined), params);
    const ignored = without.success ? without.data : changedAt(parsed.data, path, defaultOf(path));
    return { ...parsed, data: veiled(parsed.data, ignored as Table) };
  };
  return { safeParse: safeParse as SafeParse };
}

function defaultOf(path: readonly string[]): unknown {
  const parsed = (schemaAt(keys, path) as typeof keys).safeParse(undefined);
  return parsed.data;
}

/** A copy with another value at `path`; undefined removes it. */
function changedAt(tree: unknown, [head = '', ...rest]: readonly string[], value: unknown): unknown {
  const { [head]: inner, ...others } = (tree ?? {}) as Table;
  const changed = rest.length === 0 ? value : changedAt(inner, rest, value);
  return changed === undefined ? others : { ...others, [head]: changed };
}

/** A view of `real` in which the server sees the values of `ignored`. */
function veiled(real: Table, ignored: Table): Table {
  const veil: Table = {};
  for (const [name, value] of Object.entries(real)) {
    const other = ignored[name];
    if (isTable(value) && isTable(other)) veil[name] = veiled(value, other);
    else if (isSameValue(value, other)) veil[name] = value;
    else
      Object.defineProperty(veil, name, {
        enumerable: true,
        get: () => (isReadByOnlooker() ? value : other),
      });
  }
  return Object.freeze(veil);
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether the nearest stack frame in a file of this checkout is in one of the files without an effect. Without such a
 * frame, the reader is the server.
 */
function isReadByOnlooker(): boolean {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const lines = new Error().stack?.split('\n') ?? [];
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of lines) {
    const [, path = ''] = /^ +at (?!async ).*?(?:file:\/\/)?(\/[^():]+):\d+:\d+\)?$/.exec(line) ?? [];
    const file = path.startsWith(ROOT) ? path.slice(ROOT.length) : '';
    if (file === '' || file === OWN_FILE || file.startsWith('node_modules/')) continue;
    return ONLOOKERS.test(file);
  }
  return false;
}
