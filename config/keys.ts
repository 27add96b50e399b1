/**
 * Building blocks of `sections.ts`: zod, types of values that many keys share, and annotations of keys. They do not
 * depend on Weir's keys, on files or on the environment.
 */
import { z } from 'zod';

/** Documentation of a key. */
export interface KeyNotes {
  /** Help text. */
  readonly doc: string;
  /** Unit of a number, for the reference. */
  readonly unit?: string;
  /** Whether the value must not appear in messages, log lines and API responses. */
  readonly secret?: boolean;
  /** Whether a change only takes effect at the next start; changes of other keys take effect immediately. */
  readonly restart?: boolean;
  /** Whether the key belongs to one node and is set in its file, like all keys of `[server]` and `[logging]`. */
  readonly perNode?: boolean;
}

/** Annotations of each key. Members of a section that are not in this map are sections themselves. */
export const NOTES = z.registry<KeyNotes>();
/** Descriptions of the sections. */
export const SECTIONS = z.registry<{ readonly doc: string }>();

/** Schema of `true` and `false`. */
export const bool = z.boolean();

/** An integer from `min` to `max`, inclusive. */
export function int(min: number, max: number): z.ZodInt {
  return z.int(`a whole number from ${min} to ${max}`).min(min).max(max);
}

/** A list with at least `min` entries. */
export function list<S extends z.ZodType>(
  entry: S,
  min = 0,
  expected = min > 0 ? `a list of at least ${min} string` : 'a list of strings',
): z.ZodArray<S> {
  return z.array(entry, expected).refine(({ length }) => length >= min, expected);
}

/**
 * A table of keys. If the table is missing, all its keys have their defaults. `doc` is the description in the
 * reference.
 */
export function section<const S extends z.ZodRawShape>(doc: string, shape: S) {
  // Converts dates to text, because zod accepts a date as an object.
  const notDate = (raw: unknown): unknown => (raw instanceof Date ? raw.toISOString() : raw);
  const schema = z.preprocess(notDate, z.strictObject(shape)).prefault({});
  SECTIONS.add(schema, { doc });
  return schema;
}

/** Defines a key. The annotations are attached to `schema`, so each key needs its own schema. */
export function key<S extends z.ZodType>(schema: S, notes: KeyNotes): S {
  NOTES.add(schema, notes);
  return schema;
}

/** A key and its path. */
export interface PlacedKey {
  readonly path: readonly string[];
  readonly schema: z.core.$ZodType;
  readonly notes: KeyNotes;
}

/** All keys of a section, in order. Keys of tables in an array are not listed; they are part of the array's key. */
export function keysOf(schema: z.core.$ZodType, path: readonly string[] = []): PlacedKey[] {
  const notes = NOTES.get(schema);
  if (notes !== undefined) return [{ path, schema, notes }];
  return Object.entries(shapeOf(schema)).flatMap(([name, child]) => keysOf(child, [...path, name]));
}

/** The schema at `path` below `schema`; undefined for an unknown path. */
export function schemaAt(
  schema: z.core.$ZodType | undefined,
  path: readonly PropertyKey[],
): z.core.$ZodType | undefined {
  const [step, ...rest] = path;
  if (step === undefined || schema === undefined) return schema;
  const def = withoutDefault(schema);
  return schemaAt(def.type === 'array' ? def.element : shapeOf(schema)[String(step)], rest);
}

/** The schemas of a section's keys by name; empty for schemas that are not sections. */
export function shapeOf(schema: z.core.$ZodType | undefined): Readonly<Record<string, z.core.$ZodType>> {
  const def = schema && withoutDefault(schema);
  if (def?.type === 'pipe') return shapeOf(def.out);
  return def?.type === 'object' ? def.shape : {};
}

/** The inner definition of a schema, without its default or optional wrapper. */
export function withoutDefault(schema: z.core.$ZodType): z.core.$ZodTypes['_zod']['def'] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const isWrapped = def.type === 'default' || def.type === 'prefault' || def.type === 'optional';
  return isWrapped ? withoutDefault(def.innerType) : def;
}
