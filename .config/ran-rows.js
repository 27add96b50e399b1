// Checks the rows of requirements (test/requirements/) against the results of a whole test run: the cases that they
// name must have run and passed.
import { isAbsolute, relative } from 'node:path';
import { casesByFile, unshownRows } from '../test/requirements/ran-rows.ts';
import { readRequirements } from '../test/requirements/requirement-rows.ts';

/**
 * One line for each row whose case did not run or did not pass. `results` are the results of `jest --json`.
 * `skippedFiles` are test files, absolute or relative to `rootDir`, that cannot run on this machine; rows that name
 * cases in these files count as verified.
 */
export function missingRows(results, rootDir, skippedFiles = []) {
  const skipped = skippedFiles.map((file) => (isAbsolute(file) ? relative(rootDir, file) : file));
  const rows = Object.values(readRequirements(rootDir).tables).flat();
  return unshownRows(rows, casesByFile(results, rootDir), skipped);
}
