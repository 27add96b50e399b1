import { describe, expect, test } from '@jest/globals';
import { pageFiles } from './page-files.ts';

const MANIFEST = {
  '_entry-abc123.js': { file: 'assets/entry.js' },
  'src/start.tsx': { file: 'assets/start.js', imports: ['_first.js'] },
  'style.css': { file: 'assets/style.css' },
  '_first.js': { file: 'assets/first.js', imports: ['_entry-abc123.js'] },
  '_field.js': { file: 'assets/field.js', imports: ['_first.js', '_input.js'] },
  '_input.js': { file: 'assets/input.js', imports: ['_field.js'] },
  'src/pages/queries/queries-page.tsx': { file: 'assets/queries.js', imports: ['_first.js', '_field.js'] },
  'src/pages/welcome/welcome-page.tsx': { file: 'assets/welcome.js' },
  'src/frame/login/setup-page.tsx': { file: 'assets/first-account.js' },
};
const COMMON = ['assets/entry.js', 'assets/start.js', 'assets/first.js', 'assets/style.css'];

describe('pageFiles()', () => {
  test('lists the files of each page, then the files that the page imports, each once', () => {
    expect(pageFiles(MANIFEST, ['queries', 'setup'])).toEqual({
      queries: [...COMMON, 'assets/queries.js', 'assets/field.js', 'assets/input.js'],
      setup: [...COMMON, 'assets/welcome.js'],
    });
  });

  test('lists no files for a page without a matching module', () => {
    expect(pageFiles(MANIFEST, ['nodes'])).toEqual({ nodes: [] });
    expect(pageFiles({}, ['queries'])).toEqual({ queries: [] });
  });
});
