/**
 * A client for the walk: sends requests by the name of an operation, checks each response, and records the statuses.
 */
import type { OpenApiDocument } from '../../../control-plane/web/reference/openapi-document.ts';
import type { RunningApi, TestAnswer, TestRequest } from '../../support/parts/running-api.ts';
import { AnswerChecker } from '../../support/reference/answer-checker.ts';

/** A request to an operation. */
export interface Ask extends TestRequest {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: string;
}

/** Request of a step of the walk. */
export type Provoke = (walk: WalkedApi) => Promise<TestAnswer>;

/** Walks through one document; the requests may go to several servers. */
export class WalkedApi {
  readonly checker: AnswerChecker;
  /** Recorded statuses, by operation. */
  readonly met = new Map<string, Set<number>>();
  readonly api: RunningApi;
  readonly session: string;
  /** The response to the setup, which must come before the document can be read. */
  readonly setup: TestAnswer;
  /** A group that rules and clients may belong to. */
  groupId = 0;

  constructor(api: RunningApi, document: OpenApiDocument, session: string, setup: TestAnswer) {
    this.setup = setup;
    this.api = api;
    this.session = session;
    this.checker = new AnswerChecker(document);
  }

  /** Sends a request, by default as the administrator. Throws if the response is not documented. */
  async ask(name: string, ask: Ask = {}, api = this.api): Promise<TestAnswer> {
    const [method = '', path = ''] = name.split(' ');
    const { params = {}, query = '', ...request } = ask;
    const target = path.replaceAll(/\{(\w+)\}/g, (_place, key: string) =>
      encodeURIComponent(params[key] ?? '1'),
    );
    const send = (more: TestRequest): Promise<TestAnswer> =>
      api.send(method, `${api.prefix}${target}${query}`, { session: this.session, ...more });
    // A conditional change is also sent with an ETag that no entity has.
    if (this.isConditional(name))
      this.note(name, await send({ ...request, headers: { ...request.headers, 'if-match': '"stale"' } }));
    return this.note(name, await send(request));
  }

  private isConditional(name: string): boolean {
    const { parameters = [] } = this.checker.operations.get(name) ?? {};
    return parameters.some((one) => one.in === 'header' && one.name === 'If-Match');
  }

  /** Checks a response and records its status. */
  note(name: string, answer: TestAnswer): TestAnswer {
    const faults = this.checker.faultsOf(name, answer);
    if (faults.length > 0) throw new Error(`${name}: ${answer.status}: ${faults.join('; ')}`);
    const statuses = this.met.get(name) ?? new Set();
    this.met.set(name, statuses.add(answer.status));
    return answer;
  }

  /** The example body in the document; undefined if the operation has none. */
  exampleOf(name: string): unknown {
    return this.checker.operations.get(name)?.requestBody?.content['application/json']?.example;
  }

  /** Like `ask`, with the example as the body. */
  askWithExample(name: string, ask: Ask = {}, change: object = {}, api = this.api): Promise<TestAnswer> {
    const example = this.exampleOf(name);
    const json = example === undefined ? {} : { json: { ...this.own(example as object), ...change } };
    return this.ask(name, { ...json, ...ask }, api);
  }

  /** An entity of a collection: created from the example, or the newest existing one. */
  async entityOf(collection: string): Promise<string | number> {
    const made = await this.askWithExample(`POST ${collection}`);
    if (made.status === 409) return (await this.entitiesOf(collection)).at(-1)!;
    return idOf(made.body);
  }

  /** Ids of the entities of a collection that can be deleted. */
  async entitiesOf(collection: string): Promise<(string | number)[]> {
    const { body } = await this.ask(`GET ${collection}`);
    const rows = Array.isArray(body) ? (body as unknown[]) : (body as { data: unknown[] }).data;
    return rows.map(idOf).filter((id) => id !== 1 || !['/groups', '/group-plans'].includes(collection));
  }

  /** Examples refer to group 2; the walk replaces it with the group that it created. */
  private own(example: object): object {
    return Object.fromEntries(
      Object.entries(example).map(([field, value]) => {
        if (field === 'group_id') return [field, this.groupId];
        return [field, field === 'group_ids' ? [this.groupId] : (value as unknown)];
      }),
    );
  }
}

function idOf(row: unknown): string | number {
  const { id, service_id: serviceId } = row as { id?: number; service_id?: string };
  return id ?? serviceId!;
}
