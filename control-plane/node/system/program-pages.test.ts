import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { releaseProgramPages, unchangedMappings } from './program-pages.ts';

/** A mapping as the kernel shows it. */
const mapping = (range: string, rights: string, path: string, anonymousKib: number): string =>
  `${range} ${rights} 0042e000 fe:00 123                        ${path}\nSize:  8 kB\nAnonymous:    ${String(anonymousKib).padStart(9)} kB\nVmFlags: rd\n`;

test('unchangedMappings() leaves out mappings that were written, are writable, or belong to another file', () => {
  const smaps = [
    mapping('00400000-0082e000', 'r--p', '/opt/node', 0),
    mapping('0082e000-03489000', 'r-xp', '/opt/node', 0),
    mapping('072a7000-07300000', 'r--p', '/opt/node', 4),
    mapping('07300000-07308000', 'rw-p', '/opt/node', 0),
    mapping('7f0000000000-7f0000002000', 'r-xp', '/lib/libc.so.6', 0),
  ].join('');
  expect(unchangedMappings(smaps, '/opt/node')).toEqual([
    { address: 0x400000, bytes: 0x42e000 },
    { address: 0x82e000, bytes: 0x2c5b000 },
  ]);
});

describe('releaseProgramPages()', () => {
  /** Number of bytes in memory that belong to mapped files. */
  const mapped = (): number =>
    Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;

  test('unmaps pages of the program, which continues to run', async () => {
    const before = mapped();
    expect(await releaseProgramPages()).toBeGreaterThan(before / 2);
    expect(mapped()).toBeLessThan(before);
  });
});
