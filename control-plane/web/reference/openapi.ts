/**
 * The OpenAPI 3.1 document, generated from the route table: it describes the same schemas that validate requests, so
 * the two cannot disagree.
 */
import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiParameters, ZodOpenApiPathsObject } from 'zod-openapi';
import {
  Conditions,
  headerFields,
  OpenApiAnswer,
  Preferences,
  simplify,
  withIgnored,
} from '../../../shared/api/zod.ts';
import type { FieldsSchema, Schema } from '../../../shared/api/zod.ts';
import { readOnlyFields } from '../../api/entity.ts';
import { isGuarded, route as routeRow } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { SESSION_COOKIE } from '../auth/session-cookie.ts';
import { apiPrefix } from '../../api/api-prefix.ts';
import { answersOf } from './documented-answers.ts';
import { withExamples } from './examples.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { TAG_TEXTS } from './tag-texts.ts';

const DESCRIPTION = `Requests and responses are JSON in snake_case. Times are ISO 8601 in UTC. Errors are problem
details (RFC 9457) with a stable code in \`error\`; a 400 names every invalid field in \`errors\`. An address is
called \`client\` in rows and filters of queries and \`ip_address\` elsewhere; the user who made a change is
\`author\`. Fields, parameters and paths that are marked deprecated have a new name; the next release removes the old
one. Unknown fields of a body, and unknown, repeated or malformed query parameters, are refused. A PUT or PATCH
ignores read-only fields of an entity, so that clients can edit the response of a GET and send it back; absent fields
keep their value. A response with an entity has an \`ETag\` of its writable fields; a PUT, PATCH or DELETE with an
outdated one in \`If-Match\` gets 412 and changes nothing. A 201 has \`Location\`. While the database is unavailable
or overloaded, requests that need it get 503 with Retry-After. A request target of more than 8192 characters gets 414,
a header of more than 16 KiB or 100 fields 431, and a request that takes too long to arrive 408.
An unknown path gets 404, and an unsupported method 405 with \`Allow\`. HEAD works for every path with GET, and
OPTIONS, with 204 and \`Allow\`, for every path.
With \`server.alt_compat\` this API is at \`/svc/api\`, and \`/api\` is the compatibility API, which follows version 6
of Pi-hole's API and is not described in this document.`;

/** Former spellings of paths, which are still served for one more release. */
const FORMER_PATHS = /^\/whitelist\b/;

/** Describes `routes`, whose paths start with `prefix`. */
export function openApiDocument(routes: readonly Route[], prefix: string, version: string): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route) };
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Weir',
        version,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: serversOf(prefix),
      tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({
        name,
        ...(TAG_TEXTS[name] !== undefined && { description: TAG_TEXTS[name] }),
      })),
      paths,
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    { override: simplify },
  );
  // The package's types are wider than `OpenApiDocument`, because they allow everything that OpenAPI allows.
  return withExamples(document as unknown as OpenApiDocument);
}

/** The servers of the document, the current one first. */
function serversOf(prefix: string): { url: string; description: string }[] {
  const servers = [false, true].map((altCompat) => ({
    url: apiPrefix(altCompat),
    description: `if server.alt_compat is ${altCompat}`,
  }));
  return servers.sort((one, other) => Number(other.url === prefix) - Number(one.url === prefix));
}

const SECURITY_SCHEMES = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'cookie that a login sets',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'key of an API token' },
  bearer: { type: 'http', scheme: 'bearer', description: 'key of an API token' },
  sid: {
    type: 'apiKey',
    in: 'header',
    name: 'sid',
    description: 'session of the compatibility API',
  },
} as const;

/** The route that returns the document of all routes, including itself. */
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
  const { access, params: path, query } = route;
  const body = bodyOf(route);
  const header = { ...(route.waits && Preferences.shape), ...(isGuarded(route) && Conditions.shape) };
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(FORMER_PATHS.test(route.path) && { deprecated: true }),
    tags: [route.tag],
    security: access === 'public' ? [] : [{ session: [] }, { apiKey: [] }, { bearer: [] }, { sid: [] }],
    'x-weir-access': access,
    requestParams: {
      ...(path && { path }),
      ...(query && { query }),
      ...(Object.keys(header).length > 0 && { header: headerFields(header) }),
    } as ZodOpenApiParameters,
    ...(body && { requestBody: { required: true, content: { [route.bodyType]: { schema: body } } } }),
    ...(route.uploadLimitBytes !== undefined && {
      requestBody: { required: true, content: { [route.bodyType]: { schema: {} } } },
    }),
    responses: answersOf(route),
  };
}

/** The body of a request, with the read-only fields that it may contain. */
function bodyOf(route: Route): Schema | undefined {
  const { body, entity } = route;
  if (body === undefined || entity === undefined || !isGuarded(route)) return body;
  return withIgnored(body as FieldsSchema, readOnlyFields(entity.fields, body as FieldsSchema));
}

/** `GET /auth/sessions` is `getAuthSessions`, `DELETE /groups/{id}` is `deleteGroupsById`. */
function operationId({ method, path }: Route): string {
  const words = path.replaceAll(/\{(\w+)\}/g, 'by-$1').split(/[^A-Za-z0-9]+/);
  const camel = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return method.toLowerCase() + camel;
}
