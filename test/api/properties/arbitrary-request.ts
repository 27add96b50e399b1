/**
 * Requests generated from the OpenAPI document: valid values, limits, wrong types, missing and unknown fields, hostile
 * texts, unknown ids, and unsupported methods and media types.
 */
import fc from 'fast-check';
import type { OperationDoc, SchemaDoc } from '../../../control-plane/web/reference/openapi-document.ts';

type Schemas = Readonly<Record<string, SchemaDoc>>;

/** A request to one operation, or to its path with another method. */
export interface MadeRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Values that often break programs, in any place. */
const ODD = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    ' ',
    'null',
    '\u0000',
    '\ud800',
    '💥',
    '..',
    "';--",
    '%00',
    '\u202e',
    '../../../etc/passwd',
    '\r\nSet-Cookie: a=b',
    '<script>alert(1)</script>',
    '${7*7}{{7*7}}',
    '$(reboot)`reboot`',
    'constructor',
    '__proto__',
    'a\\',
    '1e5',
    '0x10',
    '+1',
    '१२',
  ),
  fc.constantFrom<unknown>(-1, 0, -0, 1.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 1e-300, [], {}, [[]]),
  fc.constantFrom('x'.repeat(2000), '9'.repeat(400), 'a.'.repeat(200), '*.'.repeat(100)),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer(),
  fc.double(),
  fc
    .integer({ min: 1, max: 300 })
    .map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Texts that are valid for some field. */
const VALID_TEXTS = fc.constantFrom(
  'example.org',
  '*.example.org',
  'ads.example.org.',
  'münchen.example',
  '192.0.2.1',
  '192.0.2.0/24',
  '2001:db8::/32',
  '::ffff:192.0.2.1',
  '02:00:5e:10:00:01',
  'https://lists.example.org/a',
  'file:///etc/passwd',
  '24h',
  '24:00',
  'Europe/Berlin',
  '2026-01-15T12:00:00Z',
  'A',
  'TYPE65535',
  '^ad[0-9]+',
  '(a+)+$',
  'netflix',
);

/** Maximum length of a generated text; longer limits are tested beside their routes. */
const LONGEST = 1_000_000;

/** Mostly values that the schema allows. */
function valueOf(schema: SchemaDoc, schemas: Schemas, depth = 0): fc.Arbitrary<unknown> {
  if (depth > 6) return fc.constant(null);
  return fc.oneof({ weight: 9, arbitrary: allowed(schema, schemas, depth) }, { weight: 1, arbitrary: ODD });
}

function allowed(schema: SchemaDoc, schemas: Schemas, depth: number): fc.Arbitrary<unknown> {
  const { $ref, enum: choices, anyOf, oneOf, type = 'string' } = schema;
  if ($ref !== undefined) return allowed(schemas[$ref.slice($ref.lastIndexOf('/') + 1)]!, schemas, depth);
  if (choices !== undefined) return fc.constantFrom<unknown>(...choices);
  const options = anyOf ?? oneOf;
  if (options !== undefined) return fc.oneof(...options.map((option) => allowed(option, schemas, depth)));
  if (typeof type !== 'string')
    return fc.oneof(...type.map((each) => allowed({ ...schema, type: each }, schemas, depth)));
  switch (type) {
    case 'object':
      return objectOf(schema, schemas, depth);
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, schemas, depth + 1), { maxLength: 4 });
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return textOf(schema);
  }
}

function objectOf({ properties = {}, required = [] }: SchemaDoc, schemas: Schemas, depth: number) {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valueOf(property, schemas, depth + 1)]),
  );
  const whole = fc.record(fields, { requiredKeys: [...required] });
  const odd = fc.tuple(whole, fc.constantFrom('surprise', '__proto__', 'constructor', ''), ODD);
  const less = fc.tuple(whole, fc.constantFrom('', ...Object.keys(properties)));
  return fc.oneof(
    { weight: 8, arbitrary: whole },
    { weight: 1, arbitrary: odd.map(([object, name, value]) => ({ ...object, [name]: value })) },
    { weight: 1, arbitrary: less.map(([object, name]) => without(object, name)) },
  );
}

function without(object: Readonly<Record<string, unknown>>, name: string): object {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

function numberOf({ minimum = -5, maximum = 200 }: SchemaDoc): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: Math.ceil(minimum), max: Math.min(maximum, minimum + 20) }),
    fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1),
  );
}

function textOf({ examples = [], minLength = 0, maxLength = 60 }: SchemaDoc): fc.Arbitrary<unknown> {
  return fc.oneof(
    VALID_TEXTS,
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) }),
    ...(maxLength <= LONGEST ? [fc.constantFrom('a'.repeat(maxLength), 'a'.repeat(maxLength + 1))] : []),
    ...(examples.length > 0 ? [fc.constantFrom(...examples)] : []),
  );
}

/** HTTP methods, and texts that some servers accept as a method. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'];

/** Media types, supported by some operation or by none. */
const TYPES = [
  'application/json',
  'application/json; charset=x',
  'application/merge-patch+json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'text/plain',
  'text/plain; charset=utf-8',
  'nonsense',
  '',
];

/**
 * Requests to `path`, nearly all with `method`. If the method has a body, the body of some requests is malformed or
 * missing.
 */
export function requestsTo(
  method: string,
  path: string,
  operation: OperationDoc,
  schemas: Schemas,
): fc.Arbitrary<MadeRequest> {
  const { parameters = [], requestBody } = operation;
  const inPath = parameters.filter((one) => one.in === 'path');
  const inQuery = parameters.filter((one) => one.in === 'query');
  const inHeader = parameters.filter((one) => one.in === 'header');
  const [[mediaType, media] = []] = Object.entries(requestBody?.content ?? {});
  const made = {
    path: fc.record(Object.fromEntries(inPath.map(({ name, schema }) => [name, valueOf(schema, schemas)]))),
    query: fc.record(
      Object.fromEntries(inQuery.map(({ name, schema }) => [name, valueOf(schema, schemas)])),
      { requiredKeys: inQuery.filter(({ required }) => required).map(({ name }) => name) },
    ),
    mustRepeat: fc.nat(30),
    method: fc.oneof({ weight: 24, arbitrary: fc.constant(method) }, fc.constantFrom(...METHODS)),
    headers: fc.record(Object.fromEntries(inHeader.map(({ name, example }) => [name, fieldOf(example)])), {
      requiredKeys: [],
    }),
    body: media === undefined ? fc.constant(undefined) : bodyOf(mediaType!, media.schema, schemas),
    type: fc.oneof(
      { weight: 12, arbitrary: fc.constant(mediaType ?? 'application/json') },
      fc.constantFrom(...TYPES),
    ),
  };
  return fc.record(made).map((parts) => {
    const pairs = Object.entries(parts.query).map(
      ([name, value]) => `${encoded(name)}=${encoded(textFor(value))}`,
    );
    if (parts.mustRepeat === 0 && pairs.length > 0) pairs.push(pairs[0]!);
    const filled = path.replaceAll(/\{(\w+)\}/g, (_place, name: string) =>
      encoded(textFor(parts.path[name]) || '0'),
    );
    return {
      method: parts.method,
      path: pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`,
      body: parts.body,
      headers: {
        ...parts.headers,
        ...(parts.body !== undefined && parts.type !== '' && { 'content-type': parts.type }),
      },
    };
  });
}

/** Value of a header field: its example, a similar value, or any printable text. */
function fieldOf(example: unknown): fc.Arbitrary<string> {
  const text = typeof example === 'string' ? example : '"1"';
  return fc.oneof(
    fc.constantFrom(text, '*', '""', 'W/"x"', `${text}, ${text}`, 'wait=0', 'wait=31', 'wait=-1', ''),
    fc.string({ maxLength: 40 }).filter((value) => /^[\x21-\x7e]*$/.test(value)),
  );
}

/** A body with a media type: JSON by its schema, or any other text. */
function bodyOf(mediaType: string, schema: SchemaDoc, schemas: Schemas): fc.Arbitrary<string | undefined> {
  if (mediaType === 'application/json') return bodyText(valueOf(schema, schemas));
  return fc.oneof(
    fc.constantFrom(
      '',
      '||ads.example^\n',
      'a.example\n@@||b.example^\n',
      '\u0000',
      '--x\r\n\r\n\r\n--x--\r\n',
    ),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.jsonValue().map((value) => JSON.stringify(value)),
  );
}

function bodyText(value: fc.Arbitrary<unknown>): fc.Arbitrary<string | undefined> {
  return fc.oneof(
    { weight: 20, arbitrary: value.map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

function textFor(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function encoded(text: string): string {
  // URL parsers treat a segment of dots as the current or parent directory.
  return encodeURIComponent(text.toWellFormed()).replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length));
}
