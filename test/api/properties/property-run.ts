/**
 * Sends generated requests to every operation of a running API. No response may be a server error, have an undocumented
 * status, or have a body that does not match its schema.
 */
import fc from 'fast-check';
import type { OpenApiDocument } from '../../../control-plane/web/reference/openapi-document.ts';
import type { TestAnswer, TestRequest } from '../../support/parts/running-api.ts';
import { AnswerChecker } from '../../support/reference/answer-checker.ts';
import { requestsTo } from './arbitrary-request.ts';

/** Maximum number of concurrent requests. */
const AT_ONCE = 6;

/** The API under test. */
export interface AskedApi {
  readonly prefix: string;
  send(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
}

/** Result of a run. */
export interface PropertyOutcome {
  readonly requests: number;
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Faults, one line each, with the request. */
  readonly faults: readonly string[];
}

/** Sends `requests` in total; the same seed generates the same requests. */
export async function runProperties(api: AskedApi, requests: number, seed: number): Promise<PropertyOutcome> {
  const document = (await api.send('GET', `${api.prefix}/openapi.json`)).body as OpenApiDocument;
  const checker = new AnswerChecker(document);
  const each = Math.ceil(requests / checker.operations.size);
  const calls = [...checker.operations].flatMap(([name, operation]) => {
    const [method = '', path = ''] = name.split(' ');
    const made = fc.sample(requestsTo(method, path, operation, document.components.schemas), {
      numRuns: each,
      seed,
    });
    return made.map((request) => ({ name, path, isOther: request.method !== method, request }));
  });
  const statuses: Record<number, number> = {};
  const faults: string[] = [];
  const take = async (): Promise<void> => {
    for (let call = calls.pop(); call !== undefined; call = calls.pop()) {
      const { name, request } = call;
      const { method, path, body, headers } = request;
      const reported = `${method} ${path.slice(0, 300)} ${body?.slice(0, 300) ?? ''}`;
      try {
        const raw = body === undefined ? {} : { raw: body };
        const answer = await api.send(method, api.prefix + path, { ...raw, headers });
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        const found = call.isOther
          ? faultsOfOther(document, checker, call, answer)
          : faultsOf(checker, name, answer);
        faults.push(...found.map((fault) => `${reported}: ${fault}`));
      } catch (error) {
        faults.push(`${reported}: ${String(error)}`);
      }
    }
  };
  const count = calls.length;
  await Promise.all(Array.from({ length: AT_ONCE }, take));
  return { requests: count, statuses, faults };
}

/**
 * Faults of a response to a method that the operation does not have; another operation of the path may have the method.
 */
function faultsOfOther(
  { paths }: OpenApiDocument,
  checker: AnswerChecker,
  { path, request: { method } }: { readonly path: string; readonly request: { readonly method: string } },
  answer: TestAnswer,
): string[] {
  const methods = Object.keys(paths[path]!).map((name) => name.toUpperCase());
  if (methods.includes(method)) return faultsOf(checker, `${method} ${path}`, answer);
  if (method === 'HEAD' && methods.includes('GET'))
    return answer.text === '' && answer.status < 500 ? [] : [`HEAD is ${answer.status} ${answer.text}`];
  // The web server itself rejects methods that HTTP does not define.
  const { status, headers } = answer;
  const wanted = method === 'OPTIONS' ? 204 : 405;
  const allowed = headers['allow']?.toString().split(', ') ?? [];
  const isAllowed = methods.every((name) => allowed.includes(name)) && !allowed.includes(method);
  const isListed = method === 'OPTIONS' ? allowed.includes('OPTIONS') : isAllowed;
  return status === wanted && isListed ? [] : [`status ${status}, Allow ${allowed.join(' ')}`];
}

function faultsOf(checker: AnswerChecker, name: string, answer: TestAnswer): string[] {
  const isFault = answer.status >= 500 ? [`status ${answer.status} ${answer.text.slice(0, 200)}`] : [];
  return [...isFault, ...checker.faultsOf(name, answer)];
}
