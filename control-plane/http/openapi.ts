/**
 * The OpenAPI 3.1 document, made from the route table: the schemas that validate requests are the ones that
 * are described, so the two cannot disagree.
 */
import { Problem } from '../../shared/api/problem-details.ts';
import { jsonSchemaOf } from '../../shared/api/schema-door.ts';
import type { JsonSchema, Schema } from '../../shared/api/schema-door.ts';
import type { Route } from '../api/route.ts';
import { SESSION_COOKIE } from '../auth/session-cookie.ts';

/** A parameter of the path or of the query string. */
export interface ParameterDoc {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** One method on one path. */
export interface OperationDoc {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-weir-access': Route['access'];
  readonly parameters: readonly ParameterDoc[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseDoc>>;
}

/** One answer, by its status. */
export interface ResponseDoc {
  readonly description: string;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

/** The parts of an OpenAPI document that Weir fills. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDoc>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  };
}

const DESCRIPTION = `JSON in snake_case. Times are ISO 8601 in UTC. Errors are problem details (RFC 9457) with a stable
code in \`error\`; a 400 names every bad field in \`errors\`. Unknown fields of
a body and unknown, repeated or malformed parameters of a query are refused. Reads that need the
database answer 503 with Retry-After while it cannot be reached.`;

/** Describes `routes`, which live behind `prefix`. */
export function openApiDocument(routes: readonly Route[], prefix: string, version: string): OpenApiDocument {
  const components: Record<string, JsonSchema> = {};
  const paths: Record<string, Record<string, OperationDoc>> = {};
  describeSchema(Problem, 'output', components);
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = describeRoute(route, components);
  return {
    openapi: '3.1.0',
    info: { title: 'Weir', version, description: DESCRIPTION },
    servers: [{ url: prefix }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      },
    },
  };
}

function describeRoute(route: Route, components: Record<string, JsonSchema>): OperationDoc {
  const { body } = route;
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    security: route.access === 'public' ? [] : [{ session: [] }, { apiKey: [] }],
    'x-weir-access': route.access,
    parameters: [
      ...describeParameters('path', route.params, components),
      ...describeParameters('query', route.query, components),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: json(describeSchema(body, 'input', components)) } }),
    responses: describeResponses(route, components),
  };
}

/** `GET /auth/sessions` is `getAuthSessions`, `DELETE /groups/{id}` is `deleteGroupsById`. */
function operationId({ method, path }: Route): string {
  const words = path.replaceAll(/\{(\w+)\}/g, 'by-$1').split(/[^A-Za-z0-9]+/);
  const camel = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return method.toLowerCase() + camel;
}

function describeParameters(
  place: ParameterDoc['in'],
  schema: Schema | undefined,
  components: Record<string, JsonSchema>,
): ParameterDoc[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = describeSchema(schema, 'input', components) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }));
}

/** What a route can end in. Most errors follow from what it takes, the rest is in its row. */
function describeResponses(
  route: Route,
  components: Record<string, JsonSchema>,
): Record<string, ResponseDoc> {
  const { answer } = route;
  const content = answer === undefined ? undefined : json(describeSchema(answer, 'output', components));
  const successes = { [route.status]: answer === undefined ? 'done' : 'success', ...route.alsoStatuses };
  const errors: Record<number, string> = {
    400: 'malformed or invalid; every bad field is named',
    ...(route.access === 'public' ? {} : { 401: 'no session or token that counts' }),
    ...(route.access === 'admin' || route.method !== 'GET' ? { 403: 'not permitted' } : {}),
    ...(route.params === undefined ? {} : { 404: 'no such entity' }),
    ...(route.body === undefined ? {} : { 413: 'body too large', 415: 'body is not JSON' }),
    421: 'the Host field names no host of this server; see server.allowed_hosts',
    503: 'the database cannot be reached; see Retry-After',
    ...route.errors,
  };
  const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const responses: Record<string, ResponseDoc> = {};
  for (const [status, description] of Object.entries(errors))
    responses[status] = { description, content: problem };
  for (const [status, description] of Object.entries(successes))
    responses[status] = content === undefined ? { description } : { description, content };
  return responses;
}

function json(schema: JsonSchema): Content {
  return { 'application/json': { schema } };
}

/** JSON Schema of `schema`; its named parts go to `components`, and references lead there. */
function describeSchema(
  schema: Schema,
  io: 'input' | 'output',
  components: Record<string, JsonSchema>,
): JsonSchema {
  const whole = relocateReferences(jsonSchemaOf(schema, io)) as JsonSchema;
  const { $schema: _draft, $defs = {}, ...rest } = whole;
  for (const [name, part] of Object.entries($defs as Record<string, JsonSchema>)) {
    const { id: _id, ...described } = part;
    components[name] = described;
  }
  return rest;
}

function relocateReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocateReferences);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] =>
    key === '$ref' && typeof inner === 'string'
      ? [key, inner.replace('#/$defs/', '#/components/schemas/')]
      : [key, relocateReferences(inner)],
  );
  return Object.fromEntries(entries);
}
