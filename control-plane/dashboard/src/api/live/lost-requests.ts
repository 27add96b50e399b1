/** Requests of the page that got no answer: the first sign that the connection is lost. */
const watchers = new Set<() => void>();

/** A request got no answer. */
export function noteLostRequest(): void {
  for (const watcher of watchers) watcher();
}

/** Calls back for each; returns what ends it. */
export function onLostRequest(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
