/**
 * Building blocks of `sections.ts`: zod, the kinds of value that many keys share, and the annotations of keys.
 * They know no key of Weir, no file, and no environment.
 */
import { z } from 'zod';

/** Documentation of a key. */
export interface KeyNotes {
  /** One sentence. */
  readonly doc: string;
  /** Unit of a number, as written in the reference. */
  readonly unit?: string;
  /** The value never appears in a message, a log line or an API answer. */
  readonly secret?: boolean;
  /** A change takes effect at the next start only; that of any other key at once. */
  readonly restart?: boolean;
  /** Whether the key belongs to one node and is set in its file, as all keys of `[server]` and `[logging]` are. */
  readonly perNode?: boolean;
}

/** The notes of each key; what a section holds and is not in here is a section itself. */
export const NOTES = z.registry<KeyNotes>();
/** Descriptions of the sections. */
export const SECTIONS = z.registry<{ readonly doc: string }>();

/** `true` or `false`. */
export const bool = z.boolean();

/** A whole number from `min` to `max`, both included. */
export function int(min: number, max: number): z.ZodInt {
  return z.int(`a whole number from ${min} to ${max}`).min(min).max(max);
}

/** A list of at least `least` entries. */
export function list<S extends z.ZodType>(
  entry: S,
  least = 0,
  expected = least > 0 ? `a list of at least ${least} string` : 'a list of strings',
): z.ZodArray<S> {
  return z.array(entry, expected).refine(({ length }) => length >= least, expected);
}

/** A table of keys; if it is missing, its keys have their defaults. `doc` is for the reference. */
export function section<const S extends z.ZodRawShape>(doc: string, shape: S) {
  // To zod a date is an object like others.
  const notDate = (raw: unknown): unknown => (raw instanceof Date ? raw.toISOString() : raw);
  const schema = z.preprocess(notDate, z.strictObject(shape)).prefault({});
  SECTIONS.add(schema, { doc });
  return schema;
}

/** A key. The notes are attached to `schema`, so another key must not use the same schema. */
export function key<S extends z.ZodType>(schema: S, notes: KeyNotes): S {
  NOTES.add(schema, notes);
  return schema;
}

/** A key and the path that leads to it. */
export interface PlacedKey {
  readonly path: readonly string[];
  readonly schema: z.core.$ZodType;
  readonly notes: KeyNotes;
}

/** Every key of a section, in its order; keys of the tables in an array are part of the array's key. */
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

/** The definition of a schema as if its value were required. */
export function withoutDefault(schema: z.core.$ZodType): z.core.$ZodTypes['_zod']['def'] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const isWrapped = def.type === 'default' || def.type === 'prefault' || def.type === 'optional';
  return isWrapped ? withoutDefault(def.innerType) : def;
}
