/** Whether somebody has to log in before the page goes on: requests wait here, and the login above the page ends it. */

let waiting: { readonly done: Promise<void>; readonly end: () => void } | null = null;
const watchers = new Set<() => void>();

/** Resolves once somebody has logged in again; opens the login. */
export function signedIn(): Promise<void> {
  if (waiting === null) {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    waiting = { done: promise, end: () => resolve(undefined) };
    tellWatchers();
  }
  return waiting.done;
}

/** Somebody has logged in: what waited goes on. */
export function endSignIn(): void {
  const ended = waiting;
  waiting = null;
  ended?.end();
  tellWatchers();
}

/** Whether requests wait for a login now. */
export function isSignInNeeded(): boolean {
  return waiting !== null;
}

/** Calls back when that changes; returns what ends it. */
export function watchSignIn(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function tellWatchers(): void {
  for (const watcher of watchers) watcher();
}
