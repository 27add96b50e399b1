/** The output of a command, which may or may not support colours and replaced lines. */
import { styleText } from 'node:util';
import type { Terminal } from '../terminal.ts';

/** The output of a command: a terminal, a file or a pipe. */
export interface Screen extends Terminal {
  /** Width of the terminal in columns; null if lines may have any length. */
  readonly columns: number | null;
  readonly hasColour: boolean;
  /** Prints a progress line that the next one replaces; does nothing without a terminal. */
  progress(line: string): void;
}

/** Colours by meaning. */
export type Tone = 'good' | 'bad' | 'weak' | 'head';

const STYLES = { good: 'green', bad: 'red', weak: 'gray', head: 'bold' } as const;

/** Printable text in its colour, if the output has colours. */
export function toned({ hasColour }: Pick<Screen, 'hasColour'>, tone: Tone, text: string): string {
  return hasColour ? styleText(STYLES[tone], text, { validateStream: false }) : text;
}

/** The outputs of this process; with colours only if the output is a terminal and NO_COLOR is not set. */
export function processScreen(terminal: Terminal): Screen {
  const { stdout, stderr, env } = process;
  const isWatched = stdout.isTTY;
  const isBare = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return {
    ...terminal,
    columns: isWatched ? stdout.columns : null,
    hasColour: isWatched && !isBare && env['TERM'] !== 'dumb',
    progress: (line) => {
      if (stderr.isTTY) stderr.write(`\r\u001b[K${line}`);
    },
  };
}
