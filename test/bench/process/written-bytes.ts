// Bytes that a process caused to be written to disk, as the kernel counts them: pages that the process dirtied, minus
// pages that were discarded before they were written.
import { readFileSync } from 'node:fs';

/** Bytes since the start of the process; 0 if the process has ended or its counters may not be read. */
export function writtenBytes(pid: number): number {
  let text = '';
  try {
    text = readFileSync(`/proc/${pid}/io`, 'utf8');
  } catch {
    return 0; // The process has ended, or belongs to another user.
  }
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return field('write_bytes') - field('cancelled_write_bytes');
}
