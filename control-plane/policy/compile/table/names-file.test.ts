import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { copyWithLines, LINES_PER_MARK, NamesWriter, TRAILER_BYTES, namesPaths } from './names-file.ts';

const { BLOCK_EXACT, BLOCK_BELOW, ALLOW_EXACT, IMPORTANT_ALLOW_SUFFIX } = RuleKind;

let folder: string;
let stem: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-names-'));
  stem = join(folder, 'table');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function add(writer: NamesWriter, name: string, kinds: number, before = 0): void {
  const bytes = Buffer.from(`<${name}>`, 'latin1');
  writer.add(bytes, 1, bytes.length - 1, before, kinds);
}

interface NamesFile {
  readonly lines: readonly string[];
  /** Byte offsets of every 1024th line. */
  readonly marks: readonly number[];
  readonly textBytes: number;
  readonly lineCount: number;
}

function read(path: string): NamesFile {
  const content = readFileSync(path);
  const trailer = content.length - TRAILER_BYTES;
  const [textBytes, lineCount, markCount] = [0, 8, 16].map((at) => content.readDoubleLE(trailer + at));
  expect(content).toHaveLength(textBytes! + markCount! * 8 + TRAILER_BYTES);
  return {
    lines: content.subarray(0, textBytes).toString('latin1').split('\n').slice(0, -1),
    marks: Array.from({ length: markCount! }, (_, index) => content.readDoubleLE(textBytes! + index * 8)),
    textBytes: textBytes!,
    lineCount: lineCount!,
  };
}

describe('NamesWriter', () => {
  test('writes each name in lower case to the file of its kind, readable only by its owner', () => {
    const writer = new NamesWriter(stem);
    add(writer, 'Block.Example', BLOCK_EXACT);
    add(writer, 'below.example', BLOCK_BELOW);
    add(writer, 'allow.example', ALLOW_EXACT);
    add(writer, 'both.example', BLOCK_EXACT | IMPORTANT_ALLOW_SUFFIX);
    writer.finish();
    const { block, allow } = namesPaths(stem);
    expect(read(block).lines).toEqual(['block.example', 'below.example', 'both.example']);
    expect(read(allow).lines).toEqual(['allow.example', 'both.example']);
    expect([block, allow].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  });

  test('writes a name to a file once, with the first rule of its kind', () => {
    const writer = new NamesWriter(stem);
    add(writer, 'a.example', BLOCK_EXACT);
    add(writer, 'a.example', BLOCK_BELOW, BLOCK_EXACT);
    add(writer, 'a.example', ALLOW_EXACT, BLOCK_EXACT | BLOCK_BELOW);
    add(writer, 'a.example', BLOCK_EXACT, ALLOW_EXACT | BLOCK_EXACT);
    writer.finish();
    expect(read(namesPaths(stem).block).lines).toEqual(['a.example']);
    expect(read(namesPaths(stem).allow).lines).toEqual(['a.example']);
  });

  test('writes empty files for a table without names', () => {
    new NamesWriter(stem).finish();
    expect(read(namesPaths(stem).block)).toEqual({ lines: [], marks: [], textBytes: 0, lineCount: 0 });
  });

  test('stores where every 1024th line starts, for a text that needs several writes', () => {
    const names = Array.from(
      { length: 2 * LINES_PER_MARK + 1 },
      (_, index) => `${index}.`.padEnd(240, 'a.'.repeat(120)) + 'example',
    );
    const writer = new NamesWriter(stem);
    for (const name of names) add(writer, name, BLOCK_EXACT);
    writer.finish();
    const file = read(namesPaths(stem).block);
    expect(file.textBytes).toBeGreaterThan(400_000);
    expect(file.lines).toEqual(names);
    expect(file.lineCount).toBe(names.length);
    expect(file.marks).toEqual(
      [0, 1024, 2048].map((line) => names.slice(0, line).join('\n').length + (line && 1)),
    );
  });
});

describe('copyWithLines()', () => {
  test('adds lines and their index to a copy, and does not change the original file', async () => {
    const writer = new NamesWriter(stem);
    const names = Array.from({ length: LINES_PER_MARK - 1 }, (_, index) => `n${index}.example`);
    for (const name of names) add(writer, name, BLOCK_EXACT);
    writer.finish();
    const { block } = namesPaths(stem);
    const before = read(block);
    const to = join(folder, 'copy');
    const added = { fresh: ['x.example', 'y.example'], perhaps: ['n0.example', 'n7.example', '7.example'] };
    expect(await copyWithLines(block, to, added)).toBe(true);
    const lines = [...names, 'x.example', 'y.example', '7.example'];
    const textBytes = before.textBytes + 'x.example\ny.example\n7.example\n'.length;
    const marks = [0, before.textBytes + 'x.example\n'.length];
    expect(read(to)).toEqual({ lines, marks, textBytes, lineCount: lines.length });
    expect(read(block)).toEqual(before);
    expect(await copyWithLines(to, join(folder, 'same'), { fresh: [], perhaps: [] })).toBe(true);
    expect(read(join(folder, 'same'))).toEqual(read(to));
  });
});
