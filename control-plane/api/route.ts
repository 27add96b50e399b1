/**
 * Route: a row that its feature defines (`<noun>-routes.ts`), and how one request runs through it. The order is
 * fixed: guard, parameters, query string, body, handler. Express only finds the row.
 */
import type { Request, Response } from 'express';
import { MAX_ID } from '../../shared/api/fields.ts';
import { closed, NoFields } from '../../shared/api/zod.ts';
import type { Checked, FieldsSchema, Nothing, Schema, Unchecked } from '../../shared/api/zod.ts';
import type { Access } from './access.ts';
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

/** A request as its handler sees it: checked, and with its caller known. */
export interface RouteRequest<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Null on public routes without a session. */
  readonly caller: Caller | null;
  readonly http: Request;
  /** For header fields, cookies, and a status other than the row's; the body is what the handler returns. */
  readonly response: Response;
  /** Aborted when the connection closes before the answer is sent. What is thrown from then on is dropped. */
  readonly gone: AbortSignal;
  /** Precondition of `If-Match`; `authorOf` passes it to the transaction. */
  readonly precondition?: Precondition | undefined;
}

/** The parts of a request that say who makes a change, and on what condition. */
export type ChangeRequest = Pick<RouteRequest, 'caller' | 'http' | 'response' | 'precondition'>;

/** The author of a change: the caller, from where the request came. The answer names the change's revision. */
export function authorOf({ caller, http, response, precondition }: ChangeRequest): Author {
  return {
    name: caller?.username ?? 'anonymous',
    address: isLocal(http) ? null : clientAddress(http),
    onRevision: (id) => response.set('Weir-Revision', String(id)),
    ...(precondition && { precondition }),
  };
}

const CREATED = 201;
/** Status of an answer that comes before what was asked for is done. */
const ACCEPTED = 202;

/** Descriptions by status. */
type Statuses = Readonly<Record<number, string>>;

/** Reader of a body that is not JSON. */
export interface BodyForm {
  readonly mediaType: string;
  /** Throws 400, 413 and 415. */
  read(http: Request, response: Response): Promise<unknown>;
}

/** A row as its feature writes it. */
interface RouteRow<P extends Schema, Q extends FieldsSchema, B extends Schema, A extends Schema> {
  readonly method: Method;
  /** Behind the API's prefix, parameters as `{id}`. */
  readonly path: string;
  readonly access: Access;
  readonly tag: string;
  /** One sentence for the reference, without a full stop. */
  readonly summary: string;
  readonly params?: P;
  /** Schema of the query string; none = no parameters. */
  readonly query?: Q;
  readonly body?: B;
  /** Reads a body that is not JSON into what `body` checks. */
  readonly form?: BodyForm;
  /** The body is a file as it is, which the handler saves (`upload.ts`); this many bytes at most. */
  readonly uploadLimitBytes?: number;
  /** Schema of the answer's body; none = 204. */
  readonly answer?: A;
  /** The entity that the route reads, creates, changes or deletes; see `entity.ts`. */
  readonly entity?: Entity;
  /** Media types of an answer that the handler writes itself, instead of `answer`. */
  readonly media?: readonly string[];
  /** The data of each event, of an answer of server-sent events that the handler writes itself. */
  readonly events?: Schema;
  /** Status of success; by default 200, or 204 without an answer. */
  readonly status?: number;
  /** Other statuses that come with the same body as success, and what they say. */
  readonly alsoStatuses?: Statuses;
  /** Errors that do not follow from what the route takes, and what they say. */
  readonly errors?: Statuses;
  readonly bodyLimitBytes?: number;
  /**
   * False if the route changes nothing on other nodes, or not before its answer: a request then cannot ask to wait for
   * them. By default requests can wait for every change that needs a login.
   */
  readonly waits?: false;
  readonly handle: (
    request: RouteRequest<Checked<P>, Checked<Q>, Checked<B>>,
  ) => Promise<Unchecked<A>> | Unchecked<A>;
}

/** A row as the rest of the API reads it. */
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
  /** Of the body of requests. */
  readonly bodyType: string;
  readonly uploadLimitBytes: number | undefined;
  readonly answer: Schema | undefined;
  readonly entity: Entity | undefined;
  readonly media: readonly string[];
  readonly events: Schema | undefined;
  readonly alsoStatuses: Statuses;
  readonly errors: Statuses;
  readonly bodyLimitBytes: number;
  /** Whether a request may prefer to wait for all nodes. */
  readonly waits: boolean;
  /** Checks the request and runs the handler; the guard has let it through. */
  run(http: Request, response: Response, caller: Caller | null): Promise<unknown>;
}

/** Makes a row; the schemas say what the handler is given and must return. */
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
    const answer = await whileThere(response, (gone) => row.handle({ ...request, gone }));
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

/** Runs `handle` with a signal that aborts when the client disconnects; the result is then undefined. */
export async function whileThere<T>(
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

/** Whether an error is the one that Node throws when a signal ends a wait. */
function isAbortError(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** Whether a route changes an entity that is there, if it still is as the request expects it; some do with POST. */
export function isGuarded({ method, status, entity }: Pick<Route, 'method' | 'status' | 'entity'>): boolean {
  return entity !== undefined && method !== 'GET' && status !== CREATED;
}

/** Sets the header fields of an entity that is answered. */
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

/** An id beyond any table's range is an unknown id, and must not reach PostgreSQL, where it would be an error. */
function refuseImpossibleIds(params: unknown): void {
  for (const [name, value] of Object.entries(params as Record<string, unknown>))
    if (typeof value === 'number' && (value < 1 || value > MAX_ID)) throw notFound(`${name} ${value}`);
}
