/** Says in the reader's language why a request failed. */
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';
import { causeIn } from '../../../../shared/net/fault-cause.ts';
import { readListFault, withoutAction } from '../../../../shared/policy/list-fault.ts';
import { keyOfCode, say } from '../i18n/say.ts';

/**
 * The text of a failure. What the server says of bad input is more exact than any text here, so that is shown, without
 * the paths of its fields: those are names in requests.
 */
export function problemText(error: unknown): string {
  if (!(error instanceof ApiFailure)) return say('problem.unreachable');
  const { problem, status, retryAfterSecs } = error;
  if (problem === null) return say('problem.foreign', { status });
  const { error: code, dependency } = problem;
  const key =
    dependency === undefined ? keyOfCode('problem', code) : keyOfCode('problem.dependency', dependency);
  if (key === null) {
    const messages = problem.errors?.map(({ message }) => message) ?? [problem.detail];
    return [...new Set(messages.map(messageText))].join('; ');
  }
  return say(key, { secs: retryAfterSecs ?? 0 });
}

/** Error message for one field of a form; null if the error does not mention it. */
export function fieldProblem(error: Error | null, path: string): string | null {
  if (!(error instanceof ApiFailure)) return null;
  const fault = error.problem?.errors?.find((one) => one.path === path);
  return fault === undefined ? null : messageText(fault.message);
}

/** A message of the server in the user's language: why a server or a list failed. Unknown messages are unchanged. */
export function messageText(message: string): string {
  const cause = causeIn(message);
  if (cause !== null) return say(`cause.${cause}`);
  const read = readListFault(message);
  if (read === null) return withoutAction(message);
  return say(`lists.fault.${read.fault}`, { status: read.status });
}
