/**
 * Waits for a condition without polling or timers: the condition is checked again after each event that may change it.
 */
export class Events {
  private readonly watchers = new Set<() => void>();

  /** Resolves when `condition` is true; it is checked now and after every event. */
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

  /** Must be called after any change that may affect a condition. */
  happened(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}
