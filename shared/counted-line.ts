/** A log line about an event that an attacker can cause any number of times. */
import type { Logger } from './log.ts';

/** Minimum interval between two lines, in milliseconds. */
const STEP_MS = 10_000;

/** Runs work after a delay and returns a function that cancels it. The process can exit before the work has run. */
export type RunLater = (work: () => void, delayMs: number) => () => void;

/** Logs the first event immediately, then one line per interval with the number of events. */
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

  /** Counts an event; the `fields` of the last event are logged. */
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
