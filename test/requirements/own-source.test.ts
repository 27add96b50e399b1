/**
 * Forbidden constructs in the product's own source: calls of a shell, code generated from text, and HTML generated from
 * text in browsers.
 */
import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');
const files = ['config', 'control-plane', 'dns-worker', 'shared'].flatMap((area) =>
  readdirSync(join(ROOT, area), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => `${area}/${file}`),
);
const texts = files.map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
/** Only files that contain one of these words are parsed, because parsing all files takes seconds. */
const sources = texts
  .filter(({ text }) => /\b(eval|Function|vm|runIn\w+|compileFunction|child_process|shell|sh)\b/.test(text))
  .map(({ file, text }) => ({ file, tree: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true) }));

/** Files with a node that matches. */
function having(holds: (node: ts.Node) => boolean): string[] {
  const finds = (node: ts.Node): boolean => holds(node) || (ts.forEachChild(node, finds) ?? false);
  return sources
    .filter(({ tree }) => finds(tree))
    .map(({ file }) => file)
    .sort();
}

/** The names that a file imports from a Node module; null if it does not import the module. */
function imported(node: ts.Node, module: string): string | null {
  if (!ts.isImportDeclaration(node) || node.getText().startsWith('import type ')) return null;
  return ts.isStringLiteral(node.moduleSpecifier) && node.moduleSpecifier.text === module
    ? (node.importClause?.getText() ?? '')
    : null;
}

describe('the source code', () => {
  test('is found', () => {
    expect(files.length).toBeGreaterThan(500);
  });

  test('generates no code from text', () => {
    const calls = (node: ts.Node): boolean =>
      (ts.isCallExpression(node) || ts.isNewExpression(node)) &&
      /^(eval|Function|globalThis\.(eval|Function))$/.test(node.expression.getText());
    expect(having(calls)).toEqual([]);
    // node:vm is used in only one file, to reach a V8 function, and runs only a constant text.
    expect(having((node) => imported(node, 'node:vm') !== null)).toEqual(['shared/threads/heap-growth.ts']);
    const runs = (node: ts.Node): boolean =>
      (ts.isCallExpression(node) || ts.isNewExpression(node)) &&
      /(^|\.)(runIn(New|This)?Context|compileFunction|Script)$/.test(node.expression.getText()) &&
      !ts.isStringLiteral(node.arguments![0]!);
    expect(having(runs)).toEqual([]);
  });

  test('starts no shell with composed text (CVE-2020-8816, CVE-2020-11108)', () => {
    const starts = having((node) => imported(node, 'node:child_process') !== null);
    expect(starts).toEqual([
      'control-plane/node/upgrade/successor.ts',
      'control-plane/storage/db/postgres/postgres-cluster.ts',
      'control-plane/storage/db/postgres/postgres-process.ts',
      'control-plane/web/built-dashboard/build-process.ts',
    ]);
    // Only functions that take separate arguments instead of a command line are imported.
    expect(
      having((node) => {
        const names = imported(node, 'node:child_process');
        return names !== null && names !== '{ spawn }' && names !== '{ execFile, spawn }';
      }),
    ).toEqual([]);
    expect(having((node) => ts.isPropertyAssignment(node) && node.name.getText() === 'shell')).toEqual([]);
    const shells = having((node) => ts.isStringLiteral(node) && /(^|\/)(ba|da)?sh$/.test(node.text));
    expect(shells).toContain('control-plane/storage/db/postgres/postgres-process.ts');
    // The only shell script is a constant; variable parts are arguments.
    const scripts: ts.Node[] = [];
    having((node) => {
      if (ts.isVariableDeclaration(node) && node.name.getText() === 'script') scripts.push(node.initializer!);
      return false;
    });
    expect(scripts.map((script) => ts.isNoSubstitutionTemplateLiteral(script))).toEqual([true]);
  });

  test('does not insert text as HTML in a browser (Pi-hole web#529, CVE-2026-0396)', () => {
    const writes = /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|javascript:)/;
    expect(texts.filter(({ text }) => writes.test(text)).map(({ file }) => file)).toEqual([]);
  });
});
