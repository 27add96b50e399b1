/** The outputs of subcommands, which tests replace. */

/** The two outputs of a command, line by line. */
export interface Terminal {
  /** A line of the result. */
  out(line: string): void;
  /** A line about an error, or about progress. */
  err(line: string): void;
}

/** The standard outputs of this process. */
export const processTerminal: Terminal = {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
};
