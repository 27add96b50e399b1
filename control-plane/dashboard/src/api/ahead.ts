/**
 * Responses that were requested before the code that needs them was loaded. Each response is used once, by the first
 * caller with the same request.
 */
const FRESH_MS = 5_000;

const answers = new Map<string, Promise<unknown>>();

/**
 * Keeps a response for a few seconds. If the request fails, `takeAhead` returns undefined and its caller sends the
 * request itself.
 */
export function keepAhead(name: string, call: object, answer: Promise<unknown>): void {
  const key = keyOf(name, call);
  answers.set(
    key,
    answer.catch(() => undefined),
  );
  setTimeout(() => answers.delete(key), FRESH_MS);
}

/** Returns a kept response and removes it; undefined if there is none. */
export async function takeAhead(name: string, call: object): Promise<unknown> {
  const key = keyOf(name, call);
  const answer = answers.get(key);
  answers.delete(key);
  return answer;
}

function keyOf(name: string, call: object): string {
  return JSON.stringify([name, { ...call, signal: undefined }]);
}
