/**
 * Results that are usually available immediately. A generator computes a result and pauses only for promises. If it
 * never pauses, the result is not a promise, so that a thread without an event loop can use the same code.
 */

/** A result, or a promise for the result if the computation has to wait. */
export type Soon<T> = T | Promise<T>;

/** A computation that pauses for promises. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

/** Gets a result within a computation, as `yield* settled(...)`: pauses if the result is a promise. */
export function* settled<T>(soon: Soon<T>): Steps<T> {
  return soon instanceof Promise ? ((yield soon) as T) : soon;
}

/** Runs a computation. Throws errors that occur before the first pause; after later errors, the promise is rejected. */
export function run<T>(steps: Steps<T>): Soon<T> {
  const step = steps.next();
  return step.done === true ? step.value : finish(steps, step.value);
}

async function finish<T>(steps: Steps<T>, pause: Promise<unknown>): Promise<T> {
  for (let waited = pause; ;) {
    let step: IteratorResult<Promise<unknown>, T>;
    try {
      step = steps.next(await waited);
    } catch (error) {
      step = steps.throw(error);
    }
    if (step.done === true) return step.value;
    waited = step.value;
  }
}
