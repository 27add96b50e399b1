/**
 * The interface through which code outside this directory uses the schema library. Schemas are defined only in this
 * directory.
 */
import { z } from 'zod';

/** A schema: it checks a value and describes the expected one. */
export type Schema = z.ZodType;
/** A schema of an object with named fields. */
export type FieldsSchema = z.ZodObject;
/** A value after it was checked. */
export type Checked<S extends Schema> = z.output<S>;
/** A value before it is checked. */
export type Unchecked<S extends Schema> = z.input<S>;
/** One fault of a value. */
export type Fault = z.core.$ZodIssue;
/** A fault with its value, before it has a message. */
export type RawFault = z.core.$ZodRawIssue;

/** Schema without fields. */
export const NoFields = z.strictObject({});
/** An OpenAPI document. */
export const OpenApiAnswer = z.looseObject({ openapi: z.literal('3.1.0') });

export type NoFields = typeof NoFields;
export type Nothing = z.ZodVoid;

/** The schema, changed to refuse unknown fields. */
export function closed(schema: FieldsSchema): FieldsSchema {
  return schema.strict();
}

/** A schema, and its form in the OpenAPI document. */
interface DescribedSchema {
  readonly zodSchema: z.core.$ZodTypes;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** Removes what readers of the OpenAPI document do not need: patterns of formats, and bounds of safe integers. */
export function simplify({ zodSchema, jsonSchema }: DescribedSchema): void {
  // zod drops the examples of a schema that transforms its input.
  const examples = z.globalRegistry.get(zodSchema)?.['examples'];
  if (Array.isArray(examples)) jsonSchema.examples = examples as unknown[];
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  // The schema of an id in a path is a string of digits; the document declares an integer.
  if (jsonSchema.type === 'integer') delete jsonSchema.pattern;
  // The schema of a boolean in a query string is an enum of two strings; the document declares a boolean.
  if (jsonSchema.type === 'boolean') {
    delete jsonSchema.enum;
    if (typeof jsonSchema.default === 'string') jsonSchema.default = jsonSchema.default === 'true';
  }
}

/** Header fields of a request that changes something. */
export const Preferences = z.object({
  Prefer: z
    .string()
    .optional()
    .meta({
      description:
        'wait=SECS (RFC 7240), at most 30: the response is sent when the change is active on all running ' +
        'nodes, or after SECS seconds. Lists that have not been fetched yet are not waited for',
      examples: ['wait=10'],
    }),
});

/** Header fields of a request that changes an existing entity. */
export const Conditions = z.object({
  'If-Match': z
    .string()
    .optional()
    .meta({
      description: 'ETags, one of which must match the current ETag of the entity; otherwise 412',
      examples: ['"LbkEHuhvLdOtUktyYi2Dzg"'],
    }),
});

/** The schema of some header fields. */
export function headerFields(fields: z.ZodRawShape): z.ZodObject {
  return z.object(fields);
}

const Ignored = z.unknown().optional().meta({ readOnly: true, description: 'ignored in requests' });

/** Extended schemas by body. Each is created once, because a schema with an id must not occur twice in the document. */
const withIgnoredFields = new WeakMap<FieldsSchema, FieldsSchema>();

/** The schema of a body that may also contain `fields`, which are ignored; for the OpenAPI document. */
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
