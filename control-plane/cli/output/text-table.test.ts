import { describe, expect, test } from '@jest/globals';
import { memoryScreen } from '../../../test/support/parts/memory-screen.ts';
import { durationSecs, formatDuration, formatMillis } from './quantities.ts';
import { widthOf } from './printable.ts';
import { printTable } from './text-table.ts';

describe('printTable()', () => {
  const columns = [{ title: 'COUNT', side: 'right' }, { title: 'NAME' }, { title: 'MORE' }] as const;

  test('aligns columns by the width of characters in a terminal', () => {
    const screen = memoryScreen();
    printTable(screen, columns, [
      [5, '日本.test', 'a'],
      ['1,234', 'x.test', null],
    ]);
    expect(screen.lines).toEqual(['COUNT  NAME       MORE', '    5  日本.test  a', '1,234  x.test     -']);
  });

  test('cuts the widest columns to the width of the terminal', () => {
    const screen = memoryScreen({ columns: 30 });
    printTable(screen, columns, [[1, 'a'.repeat(100), 'b'.repeat(12)]]);
    for (const line of screen.lines) expect(widthOf(line)).toBeLessThanOrEqual(30);
    expect(screen.lines[1]).toMatch(/^ {4}1 {2}a{9,}… {2}b{5,}/);
  });

  test('escapes control characters in cells, and uses colours only if the terminal has them', () => {
    const rows = [[{ text: 'a\u001b[2J', tone: 'bad' }, 'x\ny', '']] as const;
    const plain = memoryScreen();
    printTable(plain, columns, rows);
    expect(plain.lines[1]).toBe('a\\u{1b}[2J  x\\u{a}y  ');
    const coloured = memoryScreen({ hasColour: true });
    printTable(coloured, columns, rows);
    expect(coloured.lines[1]).toContain('\u001b[31ma\\u{1b}[2J\u001b[39m');
  });
});

describe('durationSecs() and formatted times', () => {
  test.each([
    ['10m', 600],
    ['1h30m', 5400],
    ['7d', 604_800],
    ['2w', 1_209_600],
    ['0s', 0],
    ['', null],
    ['10', null],
    ['-5m', null],
    ['1.5h', null],
    ['10 m', null],
    ['9999999999m', null],
  ])('durationSecs(%j) is %p', (text, secs) => {
    expect(durationSecs(text)).toBe(secs);
  });

  test('shows the two largest units of a duration', () => {
    expect([0, 59, 60, 3661, 90_000, 864_000].map(formatDuration)).toEqual([
      '0 s',
      '59 s',
      '1 min',
      '1 h 1 min',
      '1 d 1 h',
      '10 d',
    ]);
    expect([0, 1234, 250_000].map(formatMillis)).toEqual(['0.0 ms', '1.2 ms', '250 ms']);
  });
});
