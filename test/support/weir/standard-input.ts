/** Standard input of a process under test. */
import type { Writable } from 'node:stream';

/** Errors of a pipe whose reader has ended. */
const READER_ENDED = ['EPIPE', 'ECONNRESET'];

/**
 * Writes the whole standard input of a process. The process may end before it has read everything; its status and
 * output show why.
 */
export function giveInput(stdin: Writable, input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    // If the process has already ended, the pipe emits no further events.
    if (stdin.closed) resolve();
    stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (!READER_ENDED.includes(error.code ?? '')) reject(error);
    });
    stdin.once('finish', resolve).once('close', resolve).end(input);
  });
}
