/** Checks responses of the API against its OpenAPI document: status, media type, body, and required header fields. */
import type {
  OpenApiDocument,
  OperationDoc,
  ResponseDoc,
} from '../../../control-plane/web/reference/openapi-document.ts';
import type { TestAnswer } from '../parts/running-api.ts';
import { DocumentChecker } from './document-checker.ts';

/** Checks the responses of one document's operations. */
export class AnswerChecker {
  /** Operations by name: `GET /groups/{id}`. */
  readonly operations: ReadonlyMap<string, OperationDoc>;
  private readonly checker: DocumentChecker;

  constructor(document: OpenApiDocument) {
    this.checker = new DocumentChecker(document);
    const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    );
    this.operations = new Map(entries);
  }

  /** Differences between a response and the document; empty if there are none. */
  faultsOf(name: string, answer: TestAnswer): string[] {
    const documented = this.operations.get(name)?.responses[String(answer.status)];
    if (documented === undefined)
      return [`status ${answer.status} is not documented: ${answer.text.slice(0, 200)}`];
    const missing = ['ETag', 'Location'].filter(
      (field) => field in (documented.headers ?? {}) && answer.headers[field.toLowerCase()] === undefined,
    );
    const faults = missing.map((field) => `has no ${field}`);
    return [...faults, ...this.faultsOfBody(documented, answer), ...faultsOfHeaders(answer)];
  }

  private faultsOfBody({ content }: ResponseDoc, answer: TestAnswer): string[] {
    if (content === undefined) return answer.text === '' ? [] : ['has a body that is not documented'];
    const [type = ''] = (answer.headers['content-type']?.toString() ?? '').split(';');
    const media = content[type];
    if (media === undefined) return [`media type ${type} is not documented`];
    return /[/+]json$/.test(type) && type !== 'application/x-ndjson'
      ? this.checker.faultsOf(media.schema, answer.body).map((fault) => `body: ${fault}`)
      : [];
  }
}

function faultsOfHeaders({ status, headers, body }: TestAnswer): string[] {
  const { error } = (body ?? {}) as { readonly error?: string };
  const isChallenged = status !== 401 || headers['www-authenticate'] !== undefined;
  const isTimed = status !== 429 || /^[1-9]\d*$/.test(headers['retry-after']?.toString() ?? '');
  return [
    ...(isChallenged ? [] : ['401 has no WWW-Authenticate']),
    ...(isTimed ? [] : [`429 ${error ?? ''} has no Retry-After`]),
  ];
}
