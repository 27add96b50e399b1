/** Error messages for failed requests, in the user's language. */
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';
import { keyOfCode, say } from '../i18n/say.ts';
import { faultText } from './faults/fault-texts.ts';

/**
 * Error message for a failure. For invalid input, the server's own message is the most precise one. This message is
 * shown without field paths, because users do not know the names in requests.
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
    return [...new Set(messages.map(faultText))].join('; ');
  }
  return say(key, { secs: retryAfterSecs ?? 0 });
}

/** Error message for one field of a form; null if the error does not mention it. */
export function fieldProblem(error: Error | null, path: string): string | null {
  if (!(error instanceof ApiFailure)) return null;
  const fault = error.problem?.errors?.find((one) => one.path === path);
  return fault === undefined ? null : faultText(fault.message);
}
