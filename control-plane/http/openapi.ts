/**
 * The OpenAPI 3.1 document, made from the route table: the schemas that validate requests are the ones that
 * are described, so the two cannot disagree.
 */
import { createDocument } from 'zod-openapi';
import type {
  ZodOpenApiOperationObject,
  ZodOpenApiParameters,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { Problem } from '../../shared/api/problem-details.ts';
import { OpenApiAnswer, simplify } from '../../shared/api/schema-door.ts';
import { route as routeRow } from '../api/route.ts';
import type { Access, Route } from '../api/route.ts';
import { SESSION_COOKIE } from '../auth/session-cookie.ts';

/** A parameter of the path or of the query string. */
export interface ParameterDoc {
  readonly name: string;
  readonly in: 'path' | 'query';
  /** False if it is not given. */
  readonly required?: boolean;
  readonly schema: SchemaDoc;
}

/** One method on one path. */
export interface OperationDoc {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-weir-access': Access;
  readonly parameters?: readonly ParameterDoc[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseDoc>>;
}

/** One answer, by its status. */
interface ResponseDoc {
  readonly description: string;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: SchemaDoc }>>;

/** The keywords of JSON Schema that Weir's schemas use. */
export interface SchemaDoc {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly SchemaDoc[];
  readonly items?: SchemaDoc;
  readonly properties?: Readonly<Record<string, SchemaDoc>>;
  readonly additionalProperties?: boolean | SchemaDoc;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** The parts of an OpenAPI document that Weir fills. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDoc>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaDoc>> };
}

const DESCRIPTION = `JSON in snake_case. Times are ISO 8601 in UTC. Errors are problem details (RFC 9457) with a stable
code in \`error\`; a 400 names every bad field in \`errors\`. Unknown fields of
a body and unknown, repeated or malformed parameters of a query are refused. Reads that need the
database answer 503 with Retry-After while it cannot be reached or has too much to do.`;

/** Describes `routes`, which live behind `prefix`. */
export function openApiDocument(routes: readonly Route[], prefix: string, version: string): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route) };
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: 'Weir', version, description: DESCRIPTION },
      servers: [{ url: prefix }],
      paths,
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
          sid: { type: 'apiKey', in: 'header', name: 'sid' },
        },
      },
    },
    { override: simplify },
  );
  // The package's types allow whatever OpenAPI does.
  return document as unknown as OpenApiDocument;
}

/** The row that answers with the document of all rows, itself included. */
export function openApiRow(describe: () => OpenApiDocument): Route {
  return routeRow({
    method: 'GET',
    path: '/openapi.json',
    access: 'viewer',
    tag: 'System',
    summary: 'This description of the API, OpenAPI 3.1',
    answer: OpenApiAnswer,
    handle: () => ({ ...describe() }),
  });
}

function describeRoute(route: Route): ZodOpenApiOperationObject {
  const { access, body, params: path, query } = route;
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    security: access === 'public' ? [] : [{ session: [] }, { apiKey: [] }, { sid: [] }],
    'x-weir-access': access,
    requestParams: { ...(path && { path }), ...(query && { query }) } as ZodOpenApiParameters,
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: Object.fromEntries([...errorsOf(route), ...successesOf(route)]),
  };
}

/** `GET /auth/sessions` is `getAuthSessions`, `DELETE /groups/{id}` is `deleteGroupsById`. */
function operationId({ method, path }: Route): string {
  const words = path.replaceAll(/\{(\w+)\}/g, 'by-$1').split(/[^A-Za-z0-9]+/);
  const camel = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return method.toLowerCase() + camel;
}

type Response = readonly [string, ZodOpenApiResponseObject];

function successesOf({ answer, media, events, status, alsoStatuses }: Route): Response[] {
  const written = media.map(
    (type) => [type, { schema: isText(type) ? { type: 'string' as const } : {} }] as const,
  );
  const json = answer && { 'application/json': { schema: answer } };
  const other = events ? { 'text/event-stream': { schema: events } } : json;
  const content = written.length > 0 ? Object.fromEntries(written) : other;
  const said = events ? 'server-sent events; the data of each is JSON of this shape' : 'success';
  const successes = { [status]: content === undefined ? 'done' : said, ...alsoStatuses };
  return Object.entries(successes).map(([code, description]) => [
    code,
    { description, ...(content && { content }) },
  ]);
}

/** The errors that a route can end in. Most follow from what it takes, the rest is in its row. */
function errorsOf(route: Route): Response[] {
  const errors: Record<number, string> = {
    400: 'malformed or invalid; every bad field is named',
    ...(route.access === 'public' ? {} : { 401: 'no session or token that counts' }),
    ...(route.access === 'admin' || route.method !== 'GET' ? { 403: 'not permitted' } : {}),
    ...(route.params === undefined ? {} : { 404: 'no such entity' }),
    ...(route.body === undefined ? {} : { 413: 'body too large', 415: 'body is not JSON' }),
    421: 'the Host field names no host of this server; see server.allowed_hosts',
    503: 'the database cannot be reached, or has too much to do; see Retry-After',
    ...route.errors,
  };
  const content = { 'application/problem+json': { schema: Problem } };
  return Object.entries(errors).map(([code, description]) => [code, { description, content }]);
}

/** Whether a body of this media type is text; a file of bytes has no type in JSON Schema. */
function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType.endsWith('json');
}
