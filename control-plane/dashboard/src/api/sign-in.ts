/** Requests wait here after a session has ended, until the user has logged in again in a dialog. */

let waiting: { readonly done: Promise<void>; readonly end: () => void } | null = null;
const watchers = new Set<() => void>();

/** Opens the login dialog and resolves when the user has logged in again. */
export function signedIn(): Promise<void> {
  if (waiting === null) {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    waiting = { done: promise, end: () => resolve(undefined) };
    notifyWatchers();
  }
  return waiting.done;
}

/** Lets the waiting requests continue. */
export function endSignIn(): void {
  const ended = waiting;
  waiting = null;
  ended?.end();
  notifyWatchers();
}

/** Whether requests wait for a login now. */
export function isSignInNeeded(): boolean {
  return waiting !== null;
}

/** Calls `watcher` when requests start or stop waiting; returns a function that removes the watcher. */
export function watchSignIn(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function notifyWatchers(): void {
  for (const watcher of watchers) watcher();
}
