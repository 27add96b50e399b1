/** Runs changes of a file one after another, so that they do not overwrite each other. */

/** The last pending task for each file. */
const turns = new Map<string, Promise<unknown>>();

/** Runs `work` after all earlier calls with this path have finished. */
export async function runInFileTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(path) ?? Promise.resolve();
  const mine = before.then(work);
  const ended = mine.catch(() => undefined);
  turns.set(path, ended);
  try {
    return await mine;
  } finally {
    if (turns.get(path) === ended) turns.delete(path);
  }
}
