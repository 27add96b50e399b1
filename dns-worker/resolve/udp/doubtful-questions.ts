/**
 * Questions to one server that wait for a finding about the features of their queries; they poll the finding, because
 * the probes may run in any thread.
 */

/** Interval at which findings are polled, in milliseconds. */
const POLL_MS = 20;

/** A waiting question. */
interface Doubtful {
  /** Checks whether the probes have produced the finding. */
  check(): void;
}

/** The waiting questions of one server. Costs nothing if there are none. */
export class DoubtfulQuestions {
  private readonly waiting = new Set<Doubtful>();
  private timer: NodeJS.Timeout | undefined;

  /** Calls `check` regularly until `remove`. */
  add(question: Doubtful): void {
    this.waiting.add(question);
    this.timer ??= setInterval(() => {
      for (const each of [...this.waiting]) each.check();
    }, POLL_MS);
  }

  remove(question: Doubtful): void {
    if (this.waiting.delete(question) && this.waiting.size === 0) this.close();
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
