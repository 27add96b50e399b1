/**
 * A route of the API, which its feature defines in `<noun>-routes.ts`, and the steps of a request in a fixed order:
 * guard, parameters, query string, body, handler. Express only finds the route.
 */
import type { Request, Response } from 'express';
import { MAX_ID } from '../../shared/api/fields.ts';
import { closed, NoFields } from '../../shared/api/zod.ts';
import type { Checked, FieldsSchema, Nothing, Schema, Unchecked } from '../../shared/api/zod.ts';
import type { Access } from './route-access.ts';
import { notFound } from './api-error.ts';
import { isLocal } from './local-requests.ts';
import type { Author, Caller } from './caller.ts';
import { clientAddress } from './client-address.ts';
import { withoutReadOnly } from './entity.ts';
import type { Entity, Precondition } from './entity.ts';
import { DEFAULT_BODY_LIMIT_BYTES, PUBLIC_BODY_LIMIT_BYTES, readJsonBody } from './request-body.ts';
import { readQuery } from './query-string.ts';
import { UPLOAD_MEDIA_TYPE } from './upload.ts';
import { validate } from './validate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A validated request with its caller, in the form that handlers get. */
export interface RouteRequest<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Null if the route is public and the request has no session. */
  readonly caller: Caller | null;
  readonly http: Request;
  /**
   * Only for header fields, cookies, and a status that differs from that of the route; the handler returns the body.
   */
  readonly response: Response;
  /** Aborted if the connection closes before the response is sent. Errors after that are ignored. */
  readonly gone: AbortSignal;
  /** Precondition of `If-Match`; `authorOf` passes it to the transaction. */
  readonly precondition?: Precondition | undefined;
}

/** The parts of a request with the author and the precondition of a change. */
export type ChangeRequest = Pick<RouteRequest, 'caller' | 'http' | 'response' | 'precondition'>;

/** The author of a change: the caller and its address. The id of the revision is added to the response. */
export function authorOf({ caller, http, response, precondition }: ChangeRequest): Author {
  return {
    name: caller?.username ?? 'anonymous',
    address: isLocal(http) ? null : clientAddress(http),
    onRevision: (id) => response.set('Weir-Revision', String(id)),
    ...(precondition && { precondition }),
  };
}

const CREATED = 201;
/** Status of a response that is sent before the work is done. */
const ACCEPTED = 202;

/** Descriptions by status. */
type Statuses = Readonly<Record<number, string>>;

/** Reader of a body that is not JSON. */
export interface BodyForm {
  readonly mediaType: string;
  /** Reads the body; throws 400, 413 or 415. */
  read(http: Request, response: Response): Promise<unknown>;
}

/** A route as its feature defines it. */
interface RouteRow<P extends Schema, Q extends FieldsSchema, B extends Schema, A extends Schema> {
  readonly method: Method;
  /** Path of the route, without the prefix of the API; parameters are written as `{id}`. */
  readonly path: string;
  readonly access: Access;
  readonly tag: string;
  /** Summary for the API reference: one sentence without a full stop. */
  readonly summary: string;
  readonly params?: P;
  /** Schema of the query string; absent = no parameters. */
  readonly query?: Q;
  readonly body?: B;
  /** Converts a body that is not JSON to the value that `body` checks. */
  readonly form?: BodyForm;
  /** Maximum size in bytes of a body that is a file (not multipart), which the handler saves (`upload.ts`). */
  readonly uploadLimitBytes?: number;
  /** Schema of the response body; absent = 204 without a body. */
  readonly answer?: A;
  /** The entity that the route reads, creates, changes or deletes; see `entity.ts`. */
  readonly entity?: Entity;
  /** Media types of a response that the handler writes itself; replaces `answer`. */
  readonly media?: readonly string[];
  /** Schema of the data of each event, if the handler writes server-sent events. */
  readonly events?: Schema;
  /** Status of a successful response; by default 200, or 204 without a body. */
  readonly status?: number;
  /** Descriptions of other statuses whose responses have the same body as a successful one. */
  readonly alsoStatuses?: Statuses;
  /**
   * Descriptions of errors, in addition to errors that follow from the access, the parameters and the body of the
   * route.
   */
  readonly errors?: Statuses;
  readonly bodyLimitBytes?: number;
  /**
   * False if requests cannot wait for other nodes, because the route changes nothing there, or only after its response.
   * By default, requests can wait for every change that requires a login.
   */
  readonly waits?: false;
  readonly handle: (
    request: RouteRequest<Checked<P>, Checked<Q>, Checked<B>>,
  ) => Promise<Unchecked<A>> | Unchecked<A>;
}

/** A route in the form that the rest of the API uses. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly access: Access;
  readonly tag: string;
  readonly summary: string;
  readonly status: number;
  readonly params: Schema | undefined;
  readonly query: Schema | undefined;
  readonly body: Schema | undefined;
  /** Media type of request bodies. */
  readonly bodyType: string;
  readonly uploadLimitBytes: number | undefined;
  readonly answer: Schema | undefined;
  readonly entity: Entity | undefined;
  readonly media: readonly string[];
  readonly events: Schema | undefined;
  readonly alsoStatuses: Statuses;
  readonly errors: Statuses;
  readonly bodyLimitBytes: number;
  /** Whether a request may wait for all nodes (header `Prefer`). */
  readonly waits: boolean;
  /** Validates a request that has passed the guard, and runs the handler. */
  run(http: Request, response: Response, caller: Caller | null): Promise<unknown>;
}

/** Creates a route; its schemas determine the types of the handler. */
export function route<
  P extends Schema = NoFields,
  Q extends FieldsSchema = NoFields,
  B extends Schema = NoFields,
  A extends Schema = Nothing,
>(row: RouteRow<P, Q, B, A>): Route {
  const { media = [], alsoStatuses = {}, errors = {} } = row;
  const { method, path, access, tag, summary, entity } = row;
  const defaultLimitBytes = access === 'public' ? PUBLIC_BODY_LIMIT_BYTES : DEFAULT_BODY_LIMIT_BYTES;
  const { bodyLimitBytes = defaultLimitBytes } = row;
  const hasBody = row.answer !== undefined || media.length > 0 || row.events !== undefined;
  const status = row.status ?? (hasBody ? 200 : 204);
  const querySchema = closed(row.query ?? NoFields);
  const run: Route['run'] = async (http, response, caller) => {
    const params = validate(row.params ?? NoFields, http.params) as Checked<P>;
    refuseImpossibleIds(params);
    const query = validate(querySchema, readQuery(http.url), 'parameter') as Checked<Q>;
    const body = (
      row.form === undefined
        ? await readBody({ ...row, status }, http, bodyLimitBytes)
        : validate(row.body ?? NoFields, await row.form.read(http, response))
    ) as Checked<B>;
    const changed = isGuarded({ method, status, entity }) ? entity : undefined;
    const precondition = changed?.preconditionOf(http.get('If-Match'), params);
    const request = { params, query, body, caller, http, response, precondition };
    const answer = await whileConnected(response, (gone) => row.handle({ ...request, gone }));
    if (entity !== undefined && isFields(answer)) describeEntity(entity, answer, http, response);
    return answer;
  };
  return {
    method,
    path,
    access,
    tag,
    summary,
    status,
    params: row.params,
    query: row.query,
    body: row.body,
    bodyType:
      row.form?.mediaType ?? (row.uploadLimitBytes === undefined ? 'application/json' : UPLOAD_MEDIA_TYPE),
    uploadLimitBytes: row.uploadLimitBytes,
    answer: row.answer,
    entity,
    media,
    events: row.events,
    alsoStatuses,
    errors,
    bodyLimitBytes,
    waits: row.waits ?? (method !== 'GET' && access !== 'public' && status !== ACCEPTED),
    run,
  };
}

/** Runs `handle` with a signal that aborts when the client disconnects; the result is undefined in this case. */
export async function whileConnected<T>(
  response: Response,
  handle: (gone: AbortSignal) => Promise<T> | T,
): Promise<T | undefined> {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!response.writableFinished) gone.abort();
  };
  response.once('close', onClose);
  if (response.destroyed) gone.abort();
  try {
    return await handle(gone.signal);
  } catch (error) {
    if (gone.signal.aborted && (error === gone.signal.reason || isAbortError(error))) return undefined;
    throw error;
  } finally {
    response.off('close', onClose);
  }
}

/** Whether an error is the one that Node throws when a signal aborts an operation. */
function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/**
 * Whether a route changes an existing entity, so that `If-Match` applies. The method is not sufficient, because some of
 * these routes use POST.
 */
export function isGuarded({ method, status, entity }: Pick<Route, 'method' | 'status' | 'entity'>): boolean {
  return entity !== undefined && method !== 'GET' && status !== CREATED;
}

/** Sets the header fields for an entity in the response. */
function describeEntity(
  entity: Entity,
  answer: Record<string, unknown>,
  http: Request,
  response: Response,
): void {
  response.set('ETag', entity.etagOf(answer));
  if (response.statusCode === CREATED) response.set('Location', http.baseUrl + entity.locate(answer));
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

async function readBody(
  {
    method,
    status,
    body: schema,
    entity,
    uploadLimitBytes,
  }: Pick<Route, 'method' | 'status'> & { body?: Schema; entity?: Entity; uploadLimitBytes?: number },
  http: Request,
  limitBytes: number,
) {
  if (method === 'GET' || uploadLimitBytes !== undefined) return {};
  const value = await readJsonBody(http, limitBytes);
  // Routes without a body accept an empty object, which many clients always send.
  if (schema === undefined) return validate(NoFields, value ?? {});
  if (entity === undefined || !isGuarded({ method, status, entity })) return validate(schema, value);
  return validate(schema, withoutReadOnly(value, entity, schema as FieldsSchema));
}

/** Throws 404 for an id that is too large for any table, because PostgreSQL would report an error. */
function refuseImpossibleIds(params: unknown): void {
  for (const [name, value] of Object.entries(params as Record<string, unknown>))
    if (typeof value === 'number' && (value < 1 || value > MAX_ID)) throw notFound(`${name} ${value}`);
}
