/** Answers that were asked for before the code that needs them was there. Each serves the first who asks the same. */
const FRESH_MS = 5_000;

const answers = new Map<string, Promise<unknown>>();

/** Keeps an answer for as long as it is fresh; one that fails is asked for again by whoever needs it. */
export function keepAhead(name: string, call: object, answer: Promise<unknown>): void {
  const key = keyOf(name, call);
  answers.set(
    key,
    answer.catch(() => undefined),
  );
  setTimeout(() => answers.delete(key), FRESH_MS);
}

/** That answer, once; undefined where there is none. */
export async function takeAhead(name: string, call: object): Promise<unknown> {
  const key = keyOf(name, call);
  const answer = answers.get(key);
  answers.delete(key);
  return answer;
}

function keyOf(name: string, call: object): string {
  return JSON.stringify([name, { ...call, signal: undefined }]);
}
