/**
 * An example for each body and each parameter of the OpenAPI document, derived from the schema: its `examples` if it
 * has any; if not, a value by the name of the field (`field-examples.ts`); if there is none, a value that its keywords
 * allow.
 */
import type { Problem } from '../../../shared/api/problem-details.ts';
import { nodeHttp } from '../../../shared/lazy-builtins.ts';
import { CODE_OF_STATUS } from './documented-answers.ts';
import { FIELD_EXAMPLES } from './field-examples.ts';
import type { ContentDoc, OpenApiDocument, OperationDoc, SchemaDoc } from './openapi-document.ts';

type Schemas = Readonly<Record<string, SchemaDoc>>;

/** The document with its examples. */
export function withExamples(document: OpenApiDocument): OpenApiDocument {
  const { schemas } = document.components;
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => exampled(operation, schemas)),
  );
  return { ...document, paths };
}

function exampled(operation: OperationDoc, schemas: Schemas): OperationDoc {
  const { parameters, requestBody, responses } = operation;
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((one) => ({ ...one, example: exampleOf(one.schema, schemas, one.name) })),
    }),
    ...(requestBody && { requestBody: { ...requestBody, content: filled(requestBody.content, schemas) } }),
    responses: mapValues(responses, (response, status) => ({
      ...response,
      ...(response.content && { content: filled(response.content, schemas, { status, ...response }) }),
    })),
  };
}

/** Bodies with their examples; a binary file has none. */
function filled(content: ContentDoc, schemas: Schemas, answer?: { status: string; description: string }) {
  return mapValues(content, (media, type) => {
    if (type === 'application/problem+json' && answer !== undefined)
      return { ...media, example: problemOf(Number(answer.status), answer.description) };
    const hasFields = /[/+]json$|^multipart\//.test(type);
    const isText = type === 'text/plain' && answer === undefined;
    if (hasFields || isText) return { ...media, example: exampleOf(media.schema, schemas) };
    const event = (): string => `data: ${JSON.stringify(exampleOf(media.schema, schemas))}\n\n`;
    return type === 'text/event-stream' ? { ...media, example: event() } : media;
  });
}

function problemOf(status: number, detail: string): Problem {
  const errors = status === 400 ? { errors: [{ path: 'limit', message: 'expected an integer' }] } : {};
  const title = nodeHttp().STATUS_CODES[status] ?? 'Error';
  const error = CODE_OF_STATUS[status] ?? 'invalid';
  return { type: 'about:blank', title, status, detail, error, ...errors };
}

/**
 * A value that the schema allows; `place` is the name of the field, preceded by the name of the schema if it has one.
 */
export function exampleOf(schema: SchemaDoc, schemas: Schemas, place = ''): unknown {
  const { $ref, examples, enum: choices, anyOf, oneOf, allOf } = schema;
  if (examples?.[0] !== undefined) return examples[0];
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return exampleOf(schemas[name]!, schemas, `${name}.${fieldOf(place)}`);
  }
  if (schema.const !== undefined) return schema.const;
  const known = [place, fieldOf(place)].flatMap((name) => FIELD_EXAMPLES[name] ?? []);
  const fitting = [...known, schema.default].find((value) => allows(schema, value));
  if (fitting !== undefined) return fitting;
  if (choices !== undefined) return choices[0];
  const [first] = anyOf ?? oneOf ?? allOf ?? [];
  if (first !== undefined) return exampleOf(first, schemas, place);
  return ofType(schema, schemas, place);
}

/** The field name only; the parameter `type!` has the values of `type`. */
function fieldOf(place: string): string {
  return place.slice(place.lastIndexOf('.') + 1).replace(/!$/, '');
}

function ofType(schema: SchemaDoc, schemas: Schemas, place: string): unknown {
  switch (typesOf(schema)[0]) {
    case 'object':
      return objectOf(schema, schemas, place);
    case 'array':
      return [exampleOf(schema.items ?? {}, schemas, place.replace(/s$/, ''))];
    case 'integer':
    case 'number':
      return Math.max(Math.min(schema.maximum ?? 12, 12), schema.minimum ?? -Infinity);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return exampleText(schema);
    default:
      return {};
  }
}

function typesOf({ type = [] }: SchemaDoc): readonly string[] {
  return typeof type === 'string' ? [type] : type;
}

function objectOf({ properties, additionalProperties }: SchemaDoc, schemas: Schemas, place: string): unknown {
  const shape = place.includes('.') ? place.slice(0, place.indexOf('.')) : '';
  if (properties !== undefined) {
    const written = Object.entries(properties).filter(([, { readOnly }]) => readOnly !== true);
    return mapValues(Object.fromEntries(written), (property, field) =>
      exampleOf(property, schemas, `${shape}.${field}`),
    );
  }
  if (typeof additionalProperties !== 'object') return {};
  return { example: exampleOf(additionalProperties, schemas) };
}

/** An example by the format of the string; without a format, a string of the minimum length. */
function exampleText({ format, minLength = 0 }: SchemaDoc): string {
  switch (format) {
    case 'date-time':
      return '2026-01-15T12:00:00.000Z';
    case 'ipv4':
      return '192.0.2.17';
    case 'ipv6':
      return '2001:db8::17';
    default:
      return 'text'.padEnd(minLength, '.');
  }
}

/**
 * Whether the schema allows a value of `FIELD_EXAMPLES`; checks only some keywords, because a test validates all
 * examples.
 */
function allows(schema: SchemaDoc, value: unknown): boolean {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.some((choice) => allows(choice, value));
  if (schema.enum !== undefined) return schema.enum.includes(value as string);
  return typesOf(schema).some((type) => isOfType(type, schema, value));
}

function isOfType(type: string, schema: SchemaDoc, value: unknown): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value) && value.every((item) => allows(schema.items ?? {}, item));
    case 'object':
      return (
        schema.properties === undefined &&
        typeof value === 'object' &&
        value !== null &&
        !Array.isArray(value)
      );
    case 'integer':
    case 'number':
      return (
        typeof value === 'number' && value >= (schema.minimum ?? value) && value <= (schema.maximum ?? value)
      );
    case 'string':
      return typeof value === 'string' && isOfFormat(schema.format, value);
    default:
      return typeof value === type;
  }
}

function isOfFormat(format: string | undefined, value: string): boolean {
  return format === undefined || (format === 'uri' ? URL.canParse(value) : isTimestamp(format, value));
}

function isTimestamp(format: string, value: string): boolean {
  return format === 'date-time' && /^\d{4}-\d\d-\d\dT/.test(value);
}

function mapValues<Value, Made>(
  record: Readonly<Record<string, Value>>,
  make: (value: Value, key: string) => Made,
): Record<string, Made> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value, key)]));
}
