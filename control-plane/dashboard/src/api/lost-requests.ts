/** Reports requests without a response, which are the first sign of a lost connection. */
const watchers = new Set<() => void>();

/** Reports a request that got no response. */
export function noteLostRequest(): void {
  for (const watcher of watchers) watcher();
}

/** Calls `watcher` for each lost request; returns a function that removes the watcher. */
export function onLostRequest(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
