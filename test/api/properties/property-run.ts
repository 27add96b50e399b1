/**
 * Sends made-up requests to every operation of a running API: none may be answered with a fault of the server, with a
 * status that the document does not have, or with a body outside of its schema.
 */
import fc from 'fast-check';
import type { OpenApiDocument } from '../../../control-plane/web/reference/openapi-document.ts';
import type { RunningApi, TestAnswer } from '../../support/parts/running-api.ts';
import { AnswerChecker } from '../../support/reference/answer-checker.ts';
import { requestsTo } from './arbitrary-request.ts';

/** Requests under way at a time. */
const AT_ONCE = 6;

/** What came of a run. */
export interface PropertyOutcome {
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** One line each, with the request. */
  readonly faults: readonly string[];
}

/** Sends `requests` in all, the same ones for the same seed. */
export async function runProperties(
  api: RunningApi,
  requests: number,
  seed: number,
): Promise<PropertyOutcome> {
  const document = (await api.send('GET', `${api.prefix}/openapi.json`)).body as OpenApiDocument;
  const checker = new AnswerChecker(document);
  const each = Math.ceil(requests / checker.operations.size);
  const calls = [...checker.operations].flatMap(([name, operation]) => {
    const [method = '', path = ''] = name.split(' ');
    const made = fc.sample(requestsTo(path, operation, document.components.schemas), { numRuns: each, seed });
    return made.map((request) => ({ name, method, request }));
  });
  const statuses: Record<number, number> = {};
  const faults: string[] = [];
  const take = async (): Promise<void> => {
    for (let call = calls.pop(); call !== undefined; call = calls.pop()) {
      const { name, method, request } = call;
      const { path, body, headers } = request;
      const told = `${method} ${path.slice(0, 300)} ${body?.slice(0, 300) ?? ''}`;
      try {
        const raw = body === undefined ? {} : { raw: body };
        const answer = await api.send(method, api.prefix + path, { ...raw, headers });
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        faults.push(...faultsOf(checker, name, answer).map((fault) => `${told}: ${fault}`));
      } catch (error) {
        faults.push(`${told}: ${String(error)}`);
      }
    }
  };
  const count = calls.length;
  await Promise.all(Array.from({ length: AT_ONCE }, take));
  return { requests: count, statuses, faults };
}

function faultsOf(checker: AnswerChecker, name: string, answer: TestAnswer): string[] {
  const isFault = answer.status >= 500 ? [`status ${answer.status} ${answer.text.slice(0, 200)}`] : [];
  return [...isFault, ...checker.faultsOf(name, answer)];
}
