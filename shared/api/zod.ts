/** The only interface to the schema library for the rest of Weir. Schemas are written only in this directory. */
import { z } from 'zod';

/** Anything that checks a value and describes what it expects. */
export type Schema = z.ZodType;
/** A schema of named fields. */
export type FieldsSchema = z.ZodObject;
/** A value after it was checked. */
export type Checked<S extends Schema> = z.output<S>;
/** A value before it is checked. */
export type Unchecked<S extends Schema> = z.input<S>;
/** One fault of a value. */
export type Fault = z.core.$ZodIssue;

/** Schema without fields. */
export const NoFields = z.strictObject({});
/** An OpenAPI document. */
export const OpenApiAnswer = z.looseObject({ openapi: z.literal('3.1.0') });

export type NoFields = typeof NoFields;
export type Nothing = z.ZodVoid;

/** The schema, closed to unknown fields. */
export function closed(schema: FieldsSchema): FieldsSchema {
  return schema.strict();
}

/** A schema and its description for the document. */
interface DescribedSchema {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** Removes details that readers do not need: the long patterns of formats, bounds of doubles. Keeps examples. */
export function simplify({ zodSchema, jsonSchema }: DescribedSchema): void {
  // zod drops the examples of a schema that transforms its input.
  const examples = z.globalRegistry.get(zodSchema)?.['examples'];
  if (Array.isArray(examples)) jsonSchema.examples = examples as unknown[];
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  // Ids in paths arrive as digits; the document declares them as integers.
  if (jsonSchema.type === 'integer') delete jsonSchema.pattern;
  // Booleans in query strings are one of two texts.
  if (jsonSchema.type === 'boolean') {
    delete jsonSchema.enum;
    if (typeof jsonSchema.default === 'string') jsonSchema.default = jsonSchema.default === 'true';
  }
}

/** Header fields of a change. */
export const Preferences = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({
      description:
        'wait=SECS (RFC 7240), at most 30: the response is sent when the change is active on all running nodes, or after this ' +
        'time; it does not wait for lists that have not been fetched yet',
      examples: ['wait=10'],
    }),
});

/** Header fields of a change to an entity. */
export const Conditions = z.object({
  'If-Match': z
    .string()
    .optional()
    .meta({
      description: 'the change is made only if the entity has this ETag, or one of several; otherwise 412',
      examples: ['"LbkEHuhvLdOtUktyYi2Dzg"'],
    }),
});

/** A schema of these header fields. */
export function headerFields(fields: z.ZodRawShape): z.ZodObject {
  return z.object(fields);
}

const Ignored = z.unknown().optional().meta({ readOnly: true, description: 'ignored' });

/** The extended schema of each body, created once, because a schema with an id must not occur twice in the document. */
const withIgnoredFields = new WeakMap<FieldsSchema, FieldsSchema>();

/** A body that may also contain these fields, for the document. */
export function withIgnored(body: FieldsSchema, fields: readonly string[]): FieldsSchema {
  if (fields.length === 0) return body;
  const made =
    withIgnoredFields.get(body) ??
    body
      .safeExtend(Object.fromEntries(fields.map((field) => [field, Ignored])))
      .meta(z.globalRegistry.get(body) ?? {});
  withIgnoredFields.set(body, made);
  return made;
}
