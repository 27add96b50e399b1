/** Answers that were asked for before the code that needs them was there. Each serves the first who asks the same. */
const FRESH_MS = 5_000;

const answers = new Map<string, Promise<unknown>>();

/** Keeps an answer while it is fresh; after a failure `takeAhead` returns undefined and its caller asks again. */
export function keepAhead(name: string, call: object, answer: Promise<unknown>): void {
  const key = keyOf(name, call);
  answers.set(
    key,
    answer.catch(() => undefined),
  );
  setTimeout(() => answers.delete(key), FRESH_MS);
}

/** Returns a kept answer once; undefined without one. */
export async function takeAhead(name: string, call: object): Promise<unknown> {
  const key = keyOf(name, call);
  const answer = answers.get(key);
  answers.delete(key);
  return answer;
}

function keyOf(name: string, call: object): string {
  return JSON.stringify([name, { ...call, signal: undefined }]);
}
