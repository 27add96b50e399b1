// Bytes that a process caused to be written to disk, by the kernel's accounts: pages that it made dirty, less those
// that were dropped before they were written.
import { readFileSync } from 'node:fs';

/** Bytes since its start; 0 of a process that is gone or whose account may not be read. */
export function writtenBytes(pid: number): number {
  let text = '';
  try {
    text = readFileSync(`/proc/${pid}/io`, 'utf8');
  } catch {
    return 0; // has ended, or belongs to another user
  }
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return field('write_bytes') - field('cancelled_write_bytes');
}
