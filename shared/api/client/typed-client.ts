/**
 * Sends requests to the REST API, with the types of its schemas: `client.call('PUT /groups/{id}', { params: { id: 7 },
 * body })`. For the dashboard, the command line and scripts. Schemas are used as types only, so no schema library is
 * loaded; the caller provides `fetch`, credentials and the base URL.
 */
import type { z } from 'zod';
import type { Problem } from '../problem-details.ts';
import type { Operations } from './operations.ts';

/** Method and path of an operation, as in the reference: `GET /groups/{id}`. */
export type OperationName = keyof Operations;

/** Type of the input of a schema; `undefined` without a schema. */
type TakenBy<Name extends OperationName, Part extends string> =
  Operations[Name] extends Readonly<Record<Part, infer Schema extends z.ZodType>>
    ? z.input<Schema>
    : undefined;

/** Types allowed in a path or query string: also numbers and booleans if the API accepts their text. */
type Writable<Value> = Value extends string
  ? string extends Value
    ? string | number | boolean
    : Value | (Value extends `${infer Truth extends boolean}` ? Truth : never)
  : Value;
type WritableFields<Fields> = { readonly [Key in keyof Fields]: Writable<Fields[Key]> };

/** The body of a request: JSON, a form, a text, or the bytes of a file. */
type BodyOf<Name extends OperationName> = Operations[Name] extends { readonly form: 'multipart/form-data' }
  ? FormData
  : Operations[Name] extends { readonly upload: string }
    ? Uint8Array<ArrayBuffer>
    : TakenBy<Name, 'body'>;

/** A field of a call. It is optional if the operation has no such input, or if all of the input is optional. */
type Field<Key extends string, Value> = [Value] extends [undefined]
  ? { readonly [K in Key]?: undefined }
  : object extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

/** Input of a call of an operation. */
export type CallOf<Name extends OperationName> = Field<'params', WritableFields<TakenBy<Name, 'params'>>> &
  Field<'query', WritableFields<TakenBy<Name, 'query'>>> &
  Field<'body', BodyOf<Name>> & {
    readonly signal?: AbortSignal;
    readonly headers?: Readonly<Record<string, string>>;
  };

/** The body of a response; for a file or an event stream, the unread response. A JSON file is parsed. */
export type AnswerOf<Name extends OperationName> = Operations[Name] extends { readonly raw: string }
  ? Operations[Name] extends { readonly raw: 'application/json' }
    ? unknown
    : Response
  : TakenBy<Name, 'answer'>;

/** The data of each event of a stream. */
export type EventOf<Name extends OperationName> = TakenBy<Name, 'events'>;

/** The arguments after the name: the input, which can be omitted if all its fields are optional. */
export type Given<Name extends OperationName> =
  object extends CallOf<Name> ? [call?: CallOf<Name>] : [call: CallOf<Name>];

/** The body of a response with its status and header fields, such as `Weir-Revision`. */
export interface Answered<Name extends OperationName> {
  readonly answer: AnswerOf<Name>;
  readonly status: number;
  readonly headers: Headers;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, request: RequestInit) => Promise<Response>;

/** Base URL of the API, and how to send requests. */
export interface ClientOptions {
  /** URL with the prefix: `http://192.0.2.1:8080/api`, or `/api` in a page of the same server. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** Header fields that are sent with each request, such as `X-Api-Key`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error response of the API. If there is no response at all, the error of `fetch` is thrown instead. */
export class ApiFailure extends Error {
  readonly operation: OperationName;
  readonly status: number;
  /** Null if the response is not from Weir, but from a proxy for example. */
  readonly problem: Problem | null;
  /** When to retry; null if the response has no Retry-After. */
  readonly retryAfterSecs: number | null;

  constructor(operation: OperationName, response: Response, problem: Problem | null) {
    super(problem?.detail ?? `${operation}: HTTP status ${response.status}`);
    this.name = 'ApiFailure';
    this.operation = operation;
    this.status = response.status;
    this.problem = problem;
    const retryAfter = response.headers.get('Retry-After');
    this.retryAfterSecs = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  }
}

/** Client of one API. */
export class TypedClient {
  private readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
  }

  /** The body of the response of an operation. @throws {ApiFailure} */
  async call<Name extends OperationName>(name: Name, ...given: Given<Name>): Promise<AnswerOf<Name>> {
    return (await this.send(name, ...given)).answer;
  }

  /** Like `call`, but also returns the status and header fields. @throws {ApiFailure} */
  async send<Name extends OperationName>(name: Name, ...given: Given<Name>): Promise<Answered<Name>> {
    const call = (given[0] ?? {}) as LooseCall;
    const { baseUrl, fetch, headers } = this.options;
    const [method = '', path = ''] = name.split(' ');
    const { body, type } = encodeBody(call.body);
    const response = await fetch(baseUrl + fillPath(path, call.params) + queryString(call.query), {
      method,
      headers: { Accept: 'application/json, */*;q=0.5', ...type, ...headers, ...call.headers },
      ...(body !== undefined && { body }),
      ...(call.signal !== undefined && { signal: call.signal }),
    });
    return {
      answer: (await readAnswer(name, response)) as AnswerOf<Name>,
      status: response.status,
      headers: response.headers,
    };
  }
}

type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** A call of any operation. */
interface LooseCall {
  readonly params?: Fields | undefined;
  readonly query?: Fields | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The encoded body; for a form, `fetch` sets the content type. */
function encodeBody(body: unknown): {
  body?: string | FormData | Uint8Array<ArrayBuffer>;
  type?: Record<string, string>;
} {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  if (typeof body === 'string') return { body, type: { 'Content-Type': 'text/plain; charset=utf-8' } };
  if (body instanceof Uint8Array)
    return {
      body: body as Uint8Array<ArrayBuffer>,
      type: { 'Content-Type': 'application/octet-stream' },
    };
  return { body: JSON.stringify(body), type: { 'Content-Type': 'application/json' } };
}

function fillPath(path: string, params: Fields = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_place, name: string) => encodeURIComponent(String(params[name])));
}

/** The query string with its `?`; undefined fields are left out. */
function queryString(query: Fields = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** JSON is parsed for every status, because `GET /health` returns the same schema with 503 as with 200. */
async function readAnswer(name: OperationName, response: Response): Promise<unknown> {
  const type = response.headers.get('Content-Type') ?? '';
  if (type.startsWith('application/problem+json'))
    throw new ApiFailure(name, response, (await response.json()) as Problem);
  if (type.startsWith('application/json')) return response.json();
  if (!response.ok) throw new ApiFailure(name, response, null);
  return type === '' ? undefined : response;
}
