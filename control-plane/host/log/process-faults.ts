/**
 * Logs messages that Node.js would write to standard error as text: its warnings, those of libraries and threads, and
 * the error of a crash.
 */
import type { Worker } from 'node:worker_threads';
import type { Logger } from '../../../shared/log.ts';

/** Starts logging these messages; returns a function that stops this. */
export function logProcessFaults(logger: Logger): () => void {
  const replaced = process.listeners('warning');
  const warn = (warning: NodeJS.ErrnoException): void => {
    const { name, message, code } = warning;
    // Not logged: Node.js warns that running TypeScript directly is experimental.
    if (name === 'ExperimentalWarning') return;
    logger.warn('warning from Node.js', { name, ...(code !== undefined && { code }), reason: message });
  };
  const crash = (error: unknown): void => {
    logger.error('Weir is stopping because of an unexpected error', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    process.exit(1);
  };
  // Node.js copies the output of a thread, such as its warnings, to standard error; it is logged instead.
  const listenTo = ({ stderr }: Worker): void => {
    stderr.unpipe(process.stderr); // `unpipe()` also pauses the stream.
    stderr.setEncoding('utf8').resume();
    stderr.on('data', (text: string) => {
      logger.warn('a thread wrote to standard error', { text: text.trimEnd() });
    });
  };
  process.removeAllListeners('warning');
  process.on('worker', listenTo);
  process.on('warning', warn);
  process.on('uncaughtException', crash);
  return () => {
    process.off('warning', warn);
    process.off('worker', listenTo);
    process.off('uncaughtException', crash);
    for (const listener of replaced) process.on('warning', listener);
  };
}
