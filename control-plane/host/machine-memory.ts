/** Reads the memory of this machine, as reported by the files of Linux or, on other systems, by Node.js. Stateless. */
import { readFileSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';

/** Values are in KiB; `used` is the memory that is not available. */
export interface MachineMemory {
  readonly total: number;
  readonly free: number;
  readonly available: number;
  readonly used: number;
  readonly swapTotal: number;
  readonly swapUsed: number;
}

export function machineMemory(): MachineMemory {
  const kb = new Map(
    linesOf('/proc/meminfo').map(([name = '', value = '0']) => [name.replace(':', ''), Number(value)]),
  );
  const total = kb.get('MemTotal') ?? Math.floor(totalmem() / 1024);
  const free = kb.get('MemFree') ?? Math.floor(freemem() / 1024);
  const available = Math.min(total, kb.get('MemAvailable') ?? free);
  const [swapTotal, swapFree] = [kb.get('SwapTotal') ?? 0, kb.get('SwapFree') ?? 0];
  return { total, free, available, used: total - available, swapTotal, swapUsed: swapTotal - swapFree };
}

/** Percentage from 0 to 100; 0 if `whole` is 0. */
export function percentOf(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(100, Math.max(0, (100 * part) / whole));
}

/** Words of each line of a kernel file; empty if it cannot be read. */
export function linesOf(path: string): string[][] {
  return readText(path)
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
}

/** Text of a file of the kernel; '' if it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
