/**
 * `npm run check -- style` in a small repository: it reports text that breaks docs/style.md, and nothing else.
 * @needs git
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const LINTER = join(import.meta.dirname, '..', '..', '.config', 'style.js');

let repository = '';
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'weir-style-'));
  git('init', '--quiet');
  commit('code: start', { 'old.ts': '// Starts again.\n' });
  git('tag', 'base');
});
afterEach(() => rmSync(repository, { recursive: true, force: true }));

function git(...args: string[]): void {
  const identity = [
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.org',
    '-c',
    'commit.gpgsign=false',
  ];
  const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

function write(files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, file)), { recursive: true });
    writeFileSync(join(repository, file), text);
  }
}

function commit(subject: string, files: Readonly<Record<string, string>>): void {
  write(files);
  git('add', '.');
  git('commit', '--quiet', '--message', subject);
}

/** Faults without the final count. */
function lint(base = 'base'): { status: number | null; faults: string[] } {
  const { status, stderr } = spawnSync(process.execPath, [LINTER, base], {
    cwd: repository,
    encoding: 'utf8',
  });
  return { status, faults: stderr.split('\n').filter((line) => line !== '' && !/^\d+ faults/.test(line)) };
}

/** File and line of each fault. */
function placesOf(faults: readonly string[]): string[] {
  return faults.map((fault) => /^[^:]+:\d+/.exec(fault)?.[0] ?? fault);
}

describe('npm run check -- style', () => {
  test('suggests a replacement and fails for a phrase in a comment', () => {
    commit('code: add a file', { 'new.ts': 'export const age = 2;\n// Starts anew.\n' });
    expect(lint()).toEqual({
      status: 1,
      faults: ['new.ts:2: use "again", "re-" or "from scratch" instead of "anew"'],
    });
  });

  test('accepts plain English text', () => {
    commit('code: add a file', {
      'new.ts': '// There is no cache. Starts again.\nexport const age = "is not a file";\n',
    });
    expect(lint()).toEqual({ status: 0, faults: [] });
  });

  test('checks the whole tree, but only the subjects of commits since the base', () => {
    commit('Reads it anew', { 'new.ts': '// Reads it anew.\n' });
    git('tag', '--force', 'base');
    commit('code: move a file', { 'moved.ts': '// Writes it anew.\n' });
    expect(placesOf(lint().faults)).toEqual(['moved.ts:1', 'new.ts:1']);
  });

  test('checks files with uncommitted changes and files not yet known to git', () => {
    write({ 'old.ts': '// Nobody knows.\n', 'new.md': 'Nobody knows.\n' });
    expect(placesOf(lint().faults).toSorted()).toEqual(['new.md:1', 'old.ts:1']);
  });

  test('finds a phrase that continues on the next line or in the next part of a string', () => {
    commit('code: add files', {
      'block.ts': '/**\n * A path. This is\n * no file.\n */\nexport {};\n',
      'lines.ts': 'f(); // one\n// This is\n// no list.\n',
      'parts.ts': "throw new Error('this is ' +\n  'no list');\n",
    });
    expect(placesOf(lint().faults)).toEqual(['block.ts:2', 'lines.ts:2', 'parts.ts:1']);
  });

  test.each([
    ['a line comment', '// What it holds.\n'],
    ['a doc comment on one line', '/** What it holds. */\n'],
    ['a doc comment of several lines', '/**\n * What it holds.\n */\n'],
  ])('finds a description that starts with "What" in %s', (_form, comment) => {
    commit('code: add a file', { 'new.ts': `export {};\n${comment}export const age = 2;\n` });
    expect(lint().faults).toEqual([
      expect.stringMatching(/^new\.ts:\d+: use the name of the thing instead of/),
    ]);
  });

  test('checks strings, templates and markup with sentences, but no other code', () => {
    commit('code: add files', {
      'texts.tsx': [
        "const title = 'nobody is there';",
        'const text = `nobody is there ${title} but for ${title}`;',
        'export const Part = () => <p title={text}>Nobody is there</p>;',
      ].join('\n'),
      'code.ts': [
        "import { nobody } from './nobody.ts';",
        "const name = 'nobody';",
        'const pattern = /told anew/;',
        'const sql = `SELECT told FROM papers WHERE ${name} AND is no more`;',
        'const rows = `${sql} WHERE tables IS NOT NULL`;',
        'export const anew = { nobody, pattern, sql, told: 1 };',
      ].join('\n'),
    });
    const places = placesOf(lint().faults);
    expect(places).toEqual(['texts.tsx:1', 'texts.tsx:2', 'texts.tsx:2', 'texts.tsx:3']);
  });

  test('checks documents and comments of other files, except quotations and samples', () => {
    commit('docs: add files', {
      'guide.md':
        'It tells all.\n\n```\nit tells all\n```\n\nUse `tells` as a name.\n| `a.test.ts`: tells all |\n',
      'weir.toml': '# It tells all.\ntells = "it tells all"\n',
      'table.sql': 'SELECT 1; -- it tells all\n',
      'page.css': 'a { color: red; } /* it tells all */\n',
      'data.json': '{ "text": "it tells all" }\n',
      run: '#!/bin/sh\n# It tells all.\n',
    });
    const places = placesOf(lint().faults);
    expect(places.toSorted()).toEqual(['guide.md:1', 'page.css:1', 'run:2', 'table.sql:1', 'weir.toml:1']);
  });

  test('checks only the English message catalogue, with one word per thing', () => {
    const catalogue = '{\n  "a.note": "Comment",\n  "b": "Repair it",\n  "c": "Add note {when}"\n}\n';
    commit('dashboard: add texts', { 'i18n/en.json': catalogue, 'i18n/de.json': catalogue });
    expect(lint().faults).toEqual([
      'i18n/en.json:3: use "fix" instead of "Repair"',
      'i18n/en.json:4: use "comment" instead of "note"',
    ]);
  });

  test.each([
    ['Add a file', 'use the form "area: subject", in lower case, without a full stop'],
    ['code: Add a file', 'use the form "area: subject", in lower case, without a full stop'],
    [`code: ${'add a file '.repeat(7)}now`, 'use at most 72 characters'],
    ['code: read it anew', 'use "again", "re-" or "from scratch" instead of "anew"'],
  ])('checks the subject of a commit: %s', (subject, fault) => {
    commit(subject, { 'new.ts': 'export {};\n' });
    expect(lint().faults).toEqual([expect.stringMatching(/^commit [0-9a-f]+ "/)]);
    expect(lint().faults[0]).toContain(fault);
  });

  test('reports that it does not check commit subjects if the base or git is missing', () => {
    commit('code: add a file', { 'new.ts': '// Starts anew.\n' });
    expect(lint('0123456789')).toEqual({ status: 0, faults: [expect.stringContaining('not checked')] });
    const withoutGit = { cwd: repository, env: { PATH: repository }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(process.execPath, [LINTER], withoutGit);
    expect([status, stderr.split('\n').length]).toEqual([0, 2]);
  });
});
