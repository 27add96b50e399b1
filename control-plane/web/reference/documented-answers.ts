/**
 * Every response that a route can give, for the OpenAPI document: success, and the errors that follow from its input,
 * its access rights, and its path. The row of the route adds any other responses.
 */
import type { ZodOpenApiHeadersObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { Problem } from '../../../shared/api/problem-details.ts';
import type { ProblemCode } from '../../../shared/api/problem-details.ts';
import { CHALLENGE } from '../../api/api-error.ts';
import type { Access } from '../../api/route-access.ts';
import { isGuarded } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';

type Answer = readonly [status: string, ZodOpenApiResponseObject];

/** For each status, the problem code that is most likely with it. */
export const CODE_OF_STATUS: Readonly<Record<number, ProblemCode>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'too_large',
  415: 'unsupported_media_type',
  421: 'misdirected',
  429: 'rate_limited',
  503: 'unavailable',
};

const RETRY_AFTER: ZodOpenApiHeadersObject = {
  'Retry-After': {
    description: 'seconds after which to retry; absent if the change was stored or may have been stored',
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
};
const HEADERS_OF_STATUS: Readonly<Record<number, ZodOpenApiHeadersObject>> = {
  401: {
    'WWW-Authenticate': {
      description: 'how to authenticate (RFC 9110 section 11.6.1)',
      schema: { type: 'string' },
      example: CHALLENGE,
    },
  },
  415: {
    Accept: {
      description: 'the accepted media type',
      schema: { type: 'string' },
      example: 'application/json',
    },
  },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** Header fields of a response to a change. */
const HEADERS_OF_CHANGE: ZodOpenApiHeadersObject = {
  'Weir-Revision': {
    description: 'the revision that the change created, if any',
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  'Preference-Applied': {
    description:
      'the preference of Prefer that was applied; the response was sent when the change was active on every ' +
      'node, or when the wait time had passed',
    schema: { type: 'string' },
    example: 'wait=10',
  },
  'Weir-Nodes-Behind': {
    description:
      'names of the running nodes on which the change is not active yet, percent-encoded and separated by commas',
    schema: { type: 'string' },
    example: 'edge, attic',
  },
};

/** Header fields of a response with an entity. */
const HEADERS_OF_ENTITY: ZodOpenApiHeadersObject = {
  ETag: {
    description: 'entity tag of the writable fields of the entity, to send as If-Match',
    schema: { type: 'string' },
    example: '"LbkEHuhvLdOtUktyYi2Dzg"',
  },
};
const HEADERS_OF_CREATED: ZodOpenApiHeadersObject = {
  Location: { description: 'URL of the created entity', schema: { type: 'string', format: 'uri-reference' } },
};

/** All responses, errors first. */
export function answersOf(route: Route): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries([...errorsOf(route), ...successesOf(route)]);
}

function successesOf(route: Route): Answer[] {
  const { answer, media, events, status, alsoStatuses } = route;
  const headerFields = [
    route.waits ? HEADERS_OF_CHANGE : {},
    route.entity && answer ? HEADERS_OF_ENTITY : {},
    route.entity && status === 201 ? HEADERS_OF_CREATED : {},
  ].reduce<ZodOpenApiHeadersObject>((all, some) => Object.assign(all, some), {});
  const headers = Object.keys(headerFields).length > 0 ? { headers: headerFields } : {};
  const written = media.map((type) => [type, { schema: writtenSchema(type) }] as const);
  const json = answer && { 'application/json': { schema: answer } };
  const other = events ? { 'text/event-stream': { schema: events } } : json;
  const content = written.length > 0 ? Object.fromEntries(written) : other;
  const described = events
    ? 'server-sent events; the data of each event is JSON with this schema'
    : 'success';
  const successes = {
    [status]: content === undefined ? 'success, without a body' : described,
    ...alsoStatuses,
  };
  return Object.entries(successes).map(([code, description]) => [
    code,
    { description, ...headers, ...(content && { content }) },
  ]);
}

/** The errors that a route can return. */
function errorsOf(route: Route): Answer[] {
  const changes = route.method !== 'GET';
  const errors: Record<number, string> = {
    400: 'the request is malformed or invalid; `errors` names every invalid field',
    ...(route.access === 'public' ? {} : { 401: 'no valid session or token' }),
    ...(changes || isRefused(route.access) ? { 403: forbiddenText(route) } : {}),
    ...(route.params === undefined ? {} : { 404: 'the entity does not exist' }),
    ...(isGuarded(route) ? { 412: 'the entity has changed since the ETag of If-Match was read' } : {}),
    ...(changes ? { 413: 'the body is too large', 415: mediaText(route) } : {}),
    421: 'the Host field is not a name of this server; see server.allowed_hosts',
    503: 'the database is unavailable or overloaded; see Retry-After',
    ...route.errors,
    429: tooManyText(route),
  };
  return Object.entries(errors).map(([code, description]) => {
    const headers = HEADERS_OF_STATUS[Number(code)];
    const content = { 'application/problem+json': { schema: Problem } };
    return [code, { description, ...(headers && { headers }), content }];
  });
}

/** Every route can return 429; a few routes have a separate limit. */
function tooManyText({ errors }: Route): string {
  const own = errors[429] === undefined ? '' : `${errors[429].replace(/;.*$/, '')}, or `;
  return `${own}too many requests from this address; see Retry-After`;
}

const REFUSALS = {
  admin: 'the role is not admin',
  family: 'the role is viewer, or the role is family and the client is not linked to the user',
  viewer: 'the role is family',
} as const;

/** Whether an access excludes some roles. */
function isRefused(access: Access): access is keyof typeof REFUSALS {
  return access in REFUSALS;
}

function forbiddenText({ access, method }: Route): string {
  const role = isRefused(access) ? [REFUSALS[access]] : [];
  const origin = method === 'GET' ? [] : ['a browser sent the request from another origin'];
  return [...role, ...origin].join(', or ');
}

function mediaText({ bodyType }: Route): string {
  return bodyType === 'application/json' ? 'the body is not JSON' : `the body is not ${bodyType}`;
}

/** Schema of a body that the handler writes: an object, text, or bytes, which have no type in JSON Schema. */
function writtenSchema(mediaType: string): { readonly type?: 'object' | 'string' } {
  if (mediaType === 'application/json') return { type: 'object' };
  return mediaType.startsWith('text/') || mediaType.endsWith('json') ? { type: 'string' } : {};
}
