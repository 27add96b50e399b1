/** Says in the reader's language why a request failed. */
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';
import type { Dependency, ProblemCode } from '../../../../shared/api/problem-details.ts';
import { causeIn } from '../../../../shared/net/fault-cause.ts';
import { readListFault, withoutAction } from '../../../../shared/policy/list-fault.ts';
import type { MessageKey } from '../i18n/language.ts';
import { say } from '../i18n/say.ts';

const TEXTS: Readonly<Partial<Record<ProblemCode, MessageKey>>> = {
  unauthorized: 'problem.unauthorized',
  setup_required: 'problem.setup_required',
  setup_code_required: 'problem.setup_code_required',
  second_factor_wrong: 'problem.second_factor_wrong',
  second_factor_used: 'problem.second_factor_used',
  forbidden: 'problem.forbidden',
  cross_origin: 'problem.cross_origin',
  not_found: 'problem.not_found',
  timeout: 'problem.timeout',
  locked_out: 'problem.locked_out',
  rate_limited: 'problem.rate_limited',
  busy: 'problem.busy',
  unavailable: 'problem.unavailable',
  outcome_unknown: 'problem.outcome_unknown',
  internal: 'problem.internal',
};

const DEPENDENCY_TEXTS: Readonly<Record<Dependency, MessageKey>> = {
  openid_provider: 'problem.dependency.openid_provider',
  dns_thread: 'problem.dependency.dns_thread',
  list_copy: 'problem.dependency.list_copy',
  compiled_names: 'problem.dependency.compiled_names',
  running_node: 'problem.dependency.running_node',
};

/**
 * The text of a failure. What the server says of bad input is more exact than any text here, so that is shown, without
 * the paths of its fields: those are names in requests.
 */
export function problemText(error: unknown): string {
  if (!(error instanceof ApiFailure)) return say('problem.unreachable');
  const { problem, status, retryAfterSecs } = error;
  if (problem === null) return say('problem.foreign', { status });
  const key = problem.dependency === undefined ? TEXTS[problem.error] : DEPENDENCY_TEXTS[problem.dependency];
  if (key === undefined) {
    const messages = problem.errors?.map(({ message }) => message) ?? [problem.detail];
    return [...new Set(messages.map(messageText))].join('; ');
  }
  return say(key, { secs: retryAfterSecs ?? 0 });
}

/** What is wrong with one field of a form; null where nothing is said about it. */
export function fieldProblem(error: Error | null, path: string): string | null {
  if (!(error instanceof ApiFailure)) return null;
  const fault = error.problem?.errors?.find((one) => one.path === path);
  return fault === undefined ? null : messageText(fault.message);
}

/** A message of the server for people: why a server or a list failed, in their language; others as they are. */
export function messageText(message: string): string {
  const cause = causeIn(message);
  if (cause !== null) return say(`cause.${cause}`);
  const read = readListFault(message);
  if (read === null) return withoutAction(message);
  return say(`lists.fault.${read.fault}`, { status: read.status });
}
