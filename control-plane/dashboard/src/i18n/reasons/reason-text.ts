/** Reasons of the server in the user's language, and failed requests that contain such reasons. */
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { readLineReason } from '../../../../../shared/policy/reasons/line-reasons.ts';
import { fillText } from '../../../../../shared/policy/reasons/reason-texts.ts';

/** Texts of one language by code. Null = English, which the server writes. */
export type LineTexts = Readonly<Record<string, string>> | null;

/** Translates a reason why a line or a regex cannot be used; an unknown reason is returned unchanged. */
export function lineReasonText(reason: string, texts: LineTexts): string {
  if (texts === null) return reason;
  const read = readLineReason(reason);
  const text = read === null ? undefined : texts[read.code];
  if (read === null || text === undefined) return reason;
  return fillText(text, (name) => {
    const value = read.params[name] ?? '';
    return name === 'reason' ? lineReasonText(value, texts) : value;
  });
}

/** Translates the messages of a failed request that are reasons of the server. */
export function failureWithReasons(failure: Error, texts: LineTexts): Error {
  if (texts === null || !(failure instanceof ApiFailure)) return failure;
  const { operation, status, problem } = failure;
  if (problem?.errors === undefined) return failure;
  const errors = problem.errors.map((one) => ({ ...one, message: lineReasonText(one.message, texts) }));
  return new ApiFailure(operation, new Response(null, { status }), { ...problem, errors });
}
