/** Waiting for a condition that can only change when something happens: no polling, no timer. */
export class Events {
  private readonly watchers = new Set<() => void>();

  /** Resolves once `condition` holds; it is looked at now and after every event. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const watcher = (): void => {
        if (!condition()) return;
        this.watchers.delete(watcher);
        resolve();
      };
      this.watchers.add(watcher);
    });
  }

  /** Call it after any change that a condition may depend on. */
  happened(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}
