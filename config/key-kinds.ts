/**
 * The vocabulary that `schema.ts` is written in: what a key is, which kinds of value there are, and how
 * one value is read. Nothing here knows a single key of Weir, a file, or the environment.
 */

/** Tells one fault: the key's path, what was expected there, and the value that was found. */
export type Report = (path: string, expected: string, got: unknown) => void;

/** What a person wants to know about a key, besides its value. */
export interface KeyNotes {
  /** One sentence. */
  readonly doc: string;
  /** Unit of a number, as written in the reference. */
  readonly unit?: string;
  /** The value never appears in a message, a log line or an API answer. */
  readonly secret?: boolean;
  /** A change takes effect at the next start only. */
  readonly restart?: boolean;
  /** This version reads and checks the key, and does nothing with it. */
  readonly isNotYet?: boolean;
  /** The key has no default (only inside a table of an array of tables). */
  readonly required?: boolean;
}

/** How the text of an environment variable becomes a value. */
export type KeyShape = 'boolean' | 'integer' | 'string' | 'list' | 'tables';

/** One key of the configuration. */
export interface Key<T> extends KeyNotes {
  readonly form: 'key';
  readonly shape: KeyShape;
  readonly default: T;
  /** The value in `raw`; what is wrong with it goes to `report`, and the default is returned. */
  read(raw: unknown, path: string, report: Report): T;
}

/** A TOML table whose keys are known. */
export interface Section<K extends Record<string, SchemaNode>> {
  readonly form: 'section';
  readonly doc: string;
  readonly keys: K;
}

/** Anything a schema is made of. */
export type SchemaNode = Key<unknown> | Section<Record<string, SchemaNode>>;

/** The TypeScript type of the values that a node describes. */
export type ValueOf<N> =
  N extends Key<infer T>
    ? T
    : N extends Section<infer K>
      ? { readonly [P in keyof K]: ValueOf<K[P]> }
      : never;

/** Says what is expected instead of `value`, or nothing if the value is good. */
export type Check<T> = (value: T) => string | undefined;

/** A table of keys. */
export function section<K extends Record<string, SchemaNode>>(doc: string, keys: K): Section<K> {
  return { form: 'section', doc, keys };
}

/** `true` or `false`. */
export function bool(fallback: boolean, notes: KeyNotes): Key<boolean> {
  return {
    ...notes,
    form: 'key',
    shape: 'boolean',
    default: fallback,
    read(raw, path, report) {
      if (typeof raw === 'boolean') return raw;
      report(path, 'true or false', raw);
      return fallback;
    },
  };
}

/** A whole number from `min` to `max`, both included. */
export function int(fallback: number, min: number, max: number, notes: KeyNotes): Key<number> {
  const expected = `a whole number from ${min} to ${max}${notes.unit === undefined ? '' : ` (${notes.unit})`}`;
  return {
    ...notes,
    form: 'key',
    shape: 'integer',
    default: fallback,
    read(raw, path, report) {
      if (typeof raw === 'number' && Number.isInteger(raw) && raw >= min && raw <= max) return raw;
      report(path, expected, raw);
      return fallback;
    },
  };
}

/** A string; `check` may narrow it. */
export function text(fallback: string, notes: KeyNotes, check: Check<string> = () => undefined): Key<string> {
  return {
    ...notes,
    form: 'key',
    shape: 'string',
    default: fallback,
    read(raw, path, report) {
      const expected = typeof raw === 'string' ? check(raw) : (check('') ?? 'a string');
      if (typeof raw === 'string' && expected === undefined) return raw;
      report(path, expected ?? 'a string', raw);
      return fallback;
    },
  };
}

/** One of the strings in `choices`, spelled exactly so. */
export function choice<const C extends readonly string[]>(
  choices: C,
  fallback: C[number],
  notes: KeyNotes,
): Key<C[number]> {
  const quoted = choices.map((one) => `"${one}"`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
  return {
    ...notes,
    form: 'key',
    shape: 'string',
    default: fallback,
    read(raw, path, report) {
      const found = choices.find((one) => one === raw);
      if (found === undefined) report(path, expected, raw);
      return found ?? fallback;
    },
  };
}

/** A list of strings, each of which passes `check`; a fault names the entry, as in `key[2]`. */
export function list(
  fallback: readonly string[],
  notes: KeyNotes & { readonly minEntries?: number },
  check: Check<string>,
): Key<readonly string[]> {
  const least = notes.minEntries ?? 0;
  return {
    ...notes,
    form: 'key',
    shape: 'list',
    default: fallback,
    read(raw, path, report) {
      if (!Array.isArray(raw) || raw.length < least) {
        report(path, least > 0 ? `a list of at least ${least} string` : 'a list of strings', raw);
        return fallback;
      }
      const values: string[] = [];
      raw.forEach((entry: unknown, index) => {
        const expected = typeof entry === 'string' ? check(entry) : (check('') ?? 'a string');
        if (typeof entry === 'string' && expected === undefined) values.push(entry);
        else report(`${path}[${index}]`, expected ?? 'a string', entry);
      });
      return values;
    },
  };
}

/** One URL or several: a string (several divided by white space) or a list of strings. */
export function urls(notes: KeyNotes, check: Check<string>): Key<readonly string[]> {
  const many = list([], notes, check);
  return {
    ...many,
    shape: 'string',
    read(raw, path, report) {
      if (typeof raw !== 'string') return many.read(raw, path, report);
      const parts = raw.split(/\s+/u).filter((part) => part !== '');
      return many.read(parts, path, (_path, expected, got) => report(path, expected, got));
    },
  };
}

/** An array of tables (`[[…]]`), at least one. */
export function tables<K extends Record<string, SchemaNode>>(
  fallback: readonly ValueOf<Section<K>>[],
  notes: KeyNotes,
  entry: Section<K>,
): Key<readonly ValueOf<Section<K>>[]> & { readonly entry: Section<K> } {
  return {
    ...notes,
    form: 'key',
    shape: 'tables',
    default: fallback,
    entry,
    read(raw, path, report) {
      if (!Array.isArray(raw) || raw.length === 0) {
        report(path, 'at least one table', raw);
        return fallback;
      }
      return raw.map((one: unknown, index) => readSection(entry, one, `${path}[${index}]`, report));
    },
  };
}

/** True for a table: an object that is neither a list nor a date. */
export function isTable(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);
}

/** Every value of a section, defaults filled in; unknown keys and bad values go to `report`. */
export function readSection<K extends Record<string, SchemaNode>>(
  node: Section<K>,
  raw: unknown,
  path: string,
  report: Report,
): ValueOf<Section<K>> {
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  if (!isTable(raw)) {
    report(path, `a table of settings ([${path}])`, raw);
    return readSection(node, {}, path, () => undefined);
  }
  for (const key of Object.keys(raw)) {
    if (!Object.hasOwn(node.keys, key)) report(at(key), expectedKey(node, key), undefined);
  }
  const values: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(node.keys)) {
    const present = Object.hasOwn(raw, key);
    if (child.form === 'section') values[key] = readSection(child, present ? raw[key] : {}, at(key), report);
    else if (present) values[key] = child.read(raw[key], at(key), report);
    else if (child.required === true) report(at(key), 'a value (this key has no default)', undefined);
    else values[key] = child.default;
  }
  // The loop above has just made one value for every key of K, of the type that K says.
  return values as ValueOf<Section<K>>;
}

/** `a known key …`: names the nearest one, or all of them where nothing is near. */
function expectedKey(node: Section<Record<string, SchemaNode>>, key: string): string {
  const known = Object.keys(node.keys);
  const near = known.filter((one) => editDistance(one, key.toLowerCase()) <= 2);
  return near.length > 0
    ? `no such key; did you mean ${near.join(' or ')}?`
    : `no such key; there are ${known.join(', ')}`;
}

/** Levenshtein distance: letters to add, drop or swap for another. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
