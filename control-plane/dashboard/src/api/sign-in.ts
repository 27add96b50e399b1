/** Whether the user must log in again: requests wait here until the login dialog above the page is done. */

let waiting: { readonly done: Promise<void>; readonly end: () => void } | null = null;
const watchers = new Set<() => void>();

/** Opens the login and resolves once the user has logged in again. */
export function signedIn(): Promise<void> {
  if (waiting === null) {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    waiting = { done: promise, end: () => resolve(undefined) };
    tellWatchers();
  }
  return waiting.done;
}

/** Continues the requests that waited for the login. */
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
