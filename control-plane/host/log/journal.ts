/**
 * Supports the journal of systemd, which reads the priority of a line from the beginning of the line (sd-daemon(3)).
 */
import { fstatSync } from 'node:fs';

const STANDARD_ERROR = 2;
const PRIORITIES = { error: '<3>', warn: '<4>', info: '<6>', debug: '<7>' } as const;

/** Whether standard error is the journal: `$JOURNAL_STREAM` has the device and inode of its socket (systemd.exec(5)). */
export function isJournal(env: NodeJS.ProcessEnv, descriptor = STANDARD_ERROR): boolean {
  const stream = env['JOURNAL_STREAM'];
  if (stream === undefined || stream === '') return false;
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false; // Standard error may be closed.
  }
}

/** Prefix of a line of this level in the journal. */
export function journalPrefix(level: keyof typeof PRIORITIES): string {
  return PRIORITIES[level];
}
