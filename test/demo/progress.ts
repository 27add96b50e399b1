/** Progress of a slow start: numbered steps with counts, on one updated line in a terminal, or else one line each. */

/** Output for progress, such as `process.stdout`. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const CLEAR_LINE = '\r\u001B[2K';

/** Prints `[2/5] Writing the query log: day 3 of 7`. */
export class Progress {
  private readonly output: ProgressOutput;
  private readonly stepCount: number;
  private step = 0;
  private title = '';

  constructor(output: ProgressOutput, stepCount: number) {
    this.output = output;
    this.stepCount = stepCount;
  }

  /** Ends the current step and starts the next one. */
  next(title: string): void {
    this.end();
    this.step++;
    this.title = title;
    this.print(title);
  }

  /** Adds a count to the current step. */
  count(text: string): void {
    this.print(`${this.title}: ${text}`);
  }

  /** Ends the line of the last step. */
  end(): void {
    if (this.isOneLine && this.step > 0) this.output.write('\n');
  }

  private get isOneLine(): boolean {
    return this.output.isTTY === true;
  }

  private print(text: string): void {
    const line = `[${String(this.step)}/${String(this.stepCount)}] ${text}`;
    this.output.write(this.isOneLine ? `${CLEAR_LINE}${line}` : `${line}\n`);
  }
}

/** Output that discards everything. */
export const silent: ProgressOutput = { write: () => undefined };
