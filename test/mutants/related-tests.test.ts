import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importersOf, testsOf } from './related-tests.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-related-'));
  mkdirSync(join(root, 'a'));
  mkdirSync(join(root, 'b'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes the files and finds the tests of file `x` in `a`. */
function related(files: Record<string, string>, max = 10): string[] {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  return testsOf('a/x.ts', importersOf(root, Object.keys(files)), max);
}

describe('testsOf(), the tests related to a file,', () => {
  const files = {
    'a/x.ts': '',
    'a/y.ts': "export { x } from './x.ts';",
    'b/far.test.ts': "import { y } from '../a/y.ts';",
    'b/near.test.ts': "import '../a/x.ts';",
    'a/x.test.ts': "import { y } from './y.ts';",
    'a/thread.test.ts': "const THREAD = new URL('./y.ts', import.meta.url);",
    'a/types.test.ts': "import type { X } from './x.ts';",
    'a/other.test.ts': "import 'node:fs';",
  };

  test('finds tests that import a file directly or indirectly, the nearest first', () => {
    expect(related(files)).toEqual(['a/x.test.ts', 'b/near.test.ts', 'a/thread.test.ts', 'b/far.test.ts']);
  });

  test('finds no more than the requested number', () => {
    expect(related(files, 2)).toEqual(['a/x.test.ts', 'b/near.test.ts']);
  });

  test('terminates even if files import each other', () => {
    expect(related({ 'a/x.ts': "import './y.ts';", 'a/y.ts': "import './x.ts';" })).toEqual([]);
  });
});
