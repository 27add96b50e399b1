/** Lets changes of one file take turns, so that none overwrites what another has just written. */

/** The last task of each file. */
const turns = new Map<string, Promise<unknown>>();

/** Runs `work` when all that was asked for before with this path has ended. */
export async function inFileTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
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
