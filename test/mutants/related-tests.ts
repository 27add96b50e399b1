/** Finds the tests that import a file, directly or indirectly, and their distance. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

/**
 * The importers of each file. `import` without `type` counts, and `new URL(…, import.meta.url)`, which starts threads.
 */
export type Importers = ReadonlyMap<string, readonly string[]>;

/** Reads the imports of `files`, which are relative to `root`. */
export function importersOf(root: string, files: readonly string[]): Importers {
  const importers = new Map<string, string[]>();
  for (const file of files) {
    for (const path of importedPaths(readFileSync(join(root, file), 'utf8'))) {
      const imported = relative(root, resolve(root, dirname(file), path));
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}

function importedPaths(text: string): string[] {
  const paths: string[] = [];
  for (const statement of ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest).statements) {
    const isImport =
      ts.isImportDeclaration(statement) &&
      statement.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword;
    const isExport = ts.isExportDeclaration(statement) && !statement.isTypeOnly;
    if (!isImport && !isExport) continue;
    const from = statement.moduleSpecifier;
    if (from !== undefined && ts.isStringLiteral(from)) paths.push(from.text);
  }
  for (const [, path] of text.matchAll(/new URL\('([^']+\.ts)', import\.meta\.url\)/g)) paths.push(path!);
  return paths.filter((path) => path.startsWith('.'));
}

/**
 * The `max` tests nearest to `file`: first the test of the same name, then tests by the number of imports between them
 * and `file`.
 */
export function testsOf(file: string, importers: Importers, max: number): string[] {
  const distances = new Map([[file, 0]]);
  const tests: string[] = [];
  // Iterating over a map includes entries that are added during the loop.
  for (const [at, distance] of distances) {
    if (at.endsWith('.test.ts')) tests.push(at);
    for (const importer of importers.get(at) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  const own = basename(file).replace(/\.ts$/, '.test.ts');
  const rank = (test: string): number => {
    if (basename(test) === own) return -1;
    return distances.get(test)! + (dirname(test) === dirname(file) ? 0 : 0.5);
  };
  return tests.sort((a, b) => rank(a) - rank(b)).slice(0, max);
}
