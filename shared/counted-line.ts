/** A line of Weir's log for something that a hostile client can bring about as often as it likes. */
import type { Logger } from './log.ts';

/** Least time between two lines, milliseconds. */
const STEP_MS = 10_000;

/** Runs work after a time; the result calls that off. The process does not wait for it. */
export type RunLater = (work: () => void, delayMs: number) => () => void;

/** Writes the first at once, then one line for all of a step, with their number. */
export class CountedLine {
  private readonly logger: Logger;
  private readonly text: string;
  private readonly later: RunLater;
  private isWaiting = false;
  private count = 0;
  private last: Readonly<Record<string, unknown>> = {};

  constructor(logger: Logger, text: string, later: RunLater) {
    this.logger = logger;
    this.text = text;
    this.later = later;
  }

  /** Notes one more; `fields` of the last one are shown. */
  note(fields: Readonly<Record<string, unknown>>): void {
    this.count++;
    this.last = fields;
    if (this.isWaiting) return;
    this.write();
    this.isWaiting = true;
    this.later(() => {
      this.isWaiting = false;
      if (this.count > 0) this.write();
    }, STEP_MS);
  }

  private write(): void {
    this.logger.warn(this.text, { count: this.count, ...this.last });
    this.count = 0;
  }
}
