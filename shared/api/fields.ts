/**
 * Parts of the schemas of all requests and responses of the REST API: ids, timestamps, texts, periods, pages. A schema
 * here validates input and describes it in the OpenAPI document; the schemas of the features are in the other files of
 * this directory. Nothing here depends on HTTP.
 */
import { z } from 'zod';
import { canonicalClientKey } from '../dns/client-key.ts';
import { hasDirectionControl, hasHidden, hasInvisible } from '../unsafe-characters.ts';

/** Largest id of any table (PostgreSQL `integer`). */
export const MAX_ID = 0x7fff_ffff;

/** Id of an entity. */
export const Id = z.int().min(1).max(MAX_ID);

/** An id in a path. Only digits are accepted, so that a client with a bug gets a clear error. */
const PathId = z
  .string()
  .regex(/^\d{1,15}$/, 'expected an integer')
  .transform(Number)
  .meta({ type: 'integer', minimum: 1, maximum: MAX_ID });

/** A whole number in a query string, in decimal digits only; `fallback` if the parameter is absent. */
export function queryInt(min: number, max: number, fallback: number) {
  return digits(min, max, { default: fallback }).default(fallback);
}

/** Like `queryInt`, but the value is undefined if the parameter is absent. */
export function optionalQueryInt(min: number, max: number) {
  return digits(min, max).optional();
}

/** `Number()` alone would accept `0x10`, `1e2` and blanks. */
function digits(min: number, max: number, more: { readonly default?: number } = {}) {
  return z
    .string()
    .regex(/^(?:0|[1-9]\d{0,14})$/, 'expected an integer in decimal digits')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max, ...more });
}

/** Path parameters of one entity. */
export const IdParams = z.strictObject({ id: PathId });
export type IdParams = z.output<typeof IdParams>;

/** A time, ISO 8601 in UTC with `Z`. */
export const Timestamp = z.iso.datetime();

/**
 * Free text of at most `max` UTF-16 units, with or without line breaks. Rejects control characters except tab and line
 * feed (PostgreSQL cannot store NUL), and lone surrogates, which have no UTF-8 encoding.
 */
export function text(max: number): z.ZodString {
  return (
    z
      .string()
      .max(max)
      .refine((value) => value.isWellFormed(), 'expected well-formed Unicode')
      // eslint-disable-next-line no-control-regex -- control characters are what this looks for
      .refine((value) => !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(value), 'expected no control characters')
  );
}

/**
 * Text on one line without invisible characters and without characters that reorder the text around it; may be empty.
 */
export function line(max: number): z.ZodString {
  return text(max)
    .refine((value) => !/[\t\n\u0080-\u009f\u2028\u2029]/.test(value), 'expected one line')
    .refine((value) => !hasDirectionControl(value), 'expected no characters that change the text direction')
    .refine(
      (value) => hasDirectionControl(value) || !hasHidden(value),
      'expected no invisible characters, such as U+200B',
    );
}

/** A line that identifies a person or a program; also without joiners and variation selectors. */
export function identity(max: number): z.ZodString {
  return line(max).refine(
    (value) => hasHidden(value) || !hasInvisible(value),
    'expected no invisible characters, such as U+200D',
  );
}

/** A name that users give to an object: a line of 1..`max` units, without blanks at its ends. */
export function label(max: number): z.ZodString {
  return line(max)
    .min(1)
    .refine((value) => value === value.trim(), 'expected no spaces at the start or end');
}

/** A comment; null is converted to the empty text, which means no comment. */
export const Comment = text(1000)
  .nullable()
  .transform((value) => value ?? '');

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const MAX_PERIOD_MS = 3660 * UNIT_MS.d;

/** Milliseconds of a period text such as `15m`, `24h`, `7d`, `2w`; undefined if it is not a period. */
export function periodMs(value: string): number | undefined {
  const parts = /^([1-9]\d{0,6})([mhdw])$/.exec(value);
  if (parts === null) return undefined;
  const ms = Number(parts[1]) * UNIT_MS[parts[2] as keyof typeof UNIT_MS];
  return ms <= MAX_PERIOD_MS ? ms : undefined;
}

/** A period that ends now: `<N>m|h|d|w`, at most ten years. */
export const Period = z
  .string()
  .refine((value) => periodMs(value) !== undefined, 'expected <N>m, <N>h, <N>d or <N>w of at most ten years')
  .meta({ examples: ['24h'], pattern: '^[1-9]\\d{0,6}[mhdw]$' });

/** A deprecated name of a field or parameter, with the schema of its new name; the next release removes it. */
export function former<S extends z.ZodType>(schema: S, present: string): S {
  const deprecated = true;
  // OpenAPI requires `deprecated` in the parameter itself, not only in its schema.
  return schema.meta({ deprecated, description: `use ${present}`, param: { deprecated } });
}

/** One of a fixed set of values in a query string; letter case is ignored. */
export function anyCase<const T extends string>(values: readonly T[]): z.ZodType<T, T> {
  const written = new Map(values.map((value) => [value.toLowerCase(), value]));
  const fold = (given: unknown): unknown =>
    typeof given === 'string' ? (written.get(given.toLowerCase()) ?? given) : given;
  // The document and the typed client have the values in their original case.
  return z.preprocess(fold, z.enum(values)) as unknown as z.ZodType<T, T>;
}

/** Name of a node to filter by, as in `server.node_name`. */
export const NodeName = text(255).min(1);

/** Clients to filter by: an address or a network. */
export const AddressOrNetwork = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  'expected an IP address or a network in CIDR',
);

/** The key of a client, in lower case. */
export const ClientKey = text(255).transform((value, context) => {
  const key = canonicalClientKey(value);
  if (key !== null) return key;
  context.addIssue('expected 1 to 63 letters, digits and hyphens, with no hyphen at either end');
  return z.NEVER;
});

/** Page of a long list. */
export const Page = z.object({
  limit: queryInt(1, 1000, 100),
  offset: queryInt(0, MAX_ID, 0),
});

/** One page of a long list, with the total number of rows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    data: z.array(row),
    total: z.int().min(0),
    limit: z.int(),
    offset: z.int(),
    next_cursor: z.string().nullable().optional(),
  });
}
