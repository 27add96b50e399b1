/** What a process under test reads from its standard input. */
import type { Writable } from 'node:stream';

/** What a pipe says when its reader has ended. */
const READER_ENDED = ['EPIPE', 'ECONNRESET'];

/**
 * Writes the whole of a process's standard input. A process that ended before it read it is no error here: its status
 * and its words tell why.
 */
export function giveInput(stdin: Writable, input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    // One that was found to have ended says nothing more.
    if (stdin.closed) resolve();
    stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (!READER_ENDED.includes(error.code ?? '')) reject(error);
    });
    stdin.once('finish', resolve).once('close', resolve).end(input);
  });
}
