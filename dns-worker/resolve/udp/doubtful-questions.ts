/** The questions to one server that wait for a verdict on what they were hardened with; probes may run in any thread. */

/** How often verdicts are looked for, milliseconds. */
const LOOK_MS = 20;

/** A question that waits. */
interface Doubtful {
  /** Looks for the verdict. */
  look(): void;
}

/** The waiting questions of one server. Costs nothing while there are none. */
export class DoubtfulQuestions {
  private readonly waiting = new Set<Doubtful>();
  private timer: NodeJS.Timeout | undefined;

  /** Has `look` called until `remove`. */
  add(question: Doubtful): void {
    this.waiting.add(question);
    this.timer ??= setInterval(() => {
      for (const each of [...this.waiting]) each.look();
    }, LOOK_MS);
  }

  remove(question: Doubtful): void {
    if (this.waiting.delete(question) && this.waiting.size === 0) this.close();
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
