import { describe, expect, test } from '@jest/globals';
import { RuleTableBuilder } from './rule-table-builder.ts';
import { RuleTableEditor } from './rule-table-editor.ts';

const SEEDS = { low: 1, high: 2 };
const nameOf = (index: number): string => `n${index}.example`;

function editorOf(names: number): RuleTableEditor {
  const builder = new RuleTableBuilder(SEEDS);
  builder.beginSource(0);
  for (let index = 0; index < names; index++) {
    const name = Buffer.from(nameOf(index));
    builder.addName(name, 0, name.length, 1);
  }
  const { rules, attributes } = builder.finish();
  return new RuleTableEditor(rules, attributes);
}

describe('RuleTableEditor', () => {
  test('counts all names, and the names of each attribute', () => {
    const editor = editorOf(100);
    expect([editor.set('new.example', [1]), editor.set(nameOf(0), [2]), editor.set(nameOf(1), [])]).toEqual([
      true,
      true,
      true,
    ]);
    expect(editor.set('unknown.example', [])).toBe(true);
    const { nameCount, attributes } = editor.finish(7)!;
    expect([nameCount, [...attributes.nameCounts]]).toEqual([101, [99, 1, 1]]);
  });

  test('requires a full build if the table is full, or if many names have no rule left', () => {
    const editor = editorOf(200);
    const sets = Array.from({ length: 200 }, (_, index) => editor.set(`x${index}.example`, [1]));
    expect(sets).toContain(false);
    const other = editorOf(20);
    for (let index = 0; index < 3; index++) other.set(nameOf(index), []);
    expect(other.finish(7)).toBeUndefined();
  });
});
