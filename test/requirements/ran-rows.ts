/** Checks that the cases in rows of requirements ran and passed, from the results of a test run. */
import { relative } from 'node:path';
import type { RequirementRow } from './requirement-rows.ts';

/** The part of the output of `jest --json` that is used. */
export interface RunResults {
  readonly testResults: readonly {
    /** Absolute path of the test file. */
    readonly name: string;
    readonly assertionResults: readonly CaseResult[];
  }[];
}

/** A case in jest's report; `fullName` starts with the titles of its `describe` blocks. */
export interface CaseResult {
  readonly title: string;
  readonly fullName: string;
  readonly status: string;
}

/** The cases of a run by test file, relative to `rootDir`. */
export function casesByFile(results: RunResults, rootDir: string): Map<string, CaseResult[]> {
  const cases = new Map<string, CaseResult[]>();
  for (const { name, assertionResults } of results.testResults) {
    const file = relative(rootDir, name);
    cases.set(file, [...(cases.get(file) ?? []), ...assertionResults]);
  }
  return cases;
}

/** Reason why a case does not count as passed; null if it passed. */
export function faultOf(cases: readonly CaseResult[], title: string): string | null {
  const found = cases.filter((one) => one.title === title || one.fullName === title);
  if (found.length === 0) return 'did not run';
  const fullNames = new Set(found.map(({ fullName }) => fullName));
  if (fullNames.size > 1) return `is the title of ${fullNames.size} cases: use the full name of one`;
  const bad = found.find(({ status }) => status !== 'passed');
  return bad === undefined ? null : `did not pass (${bad.status})`;
}

/** A line for each case of a row that did not run or did not pass; rows of `skippedFiles` are ignored. */
export function unshownRows(
  rows: readonly RequirementRow[],
  cases: ReadonlyMap<string, readonly CaseResult[]>,
  skippedFiles: readonly string[] = [],
): string[] {
  return rows.flatMap(({ what, file, titles }) => {
    if (skippedFiles.includes(file)) return [];
    return titles.flatMap((title) => {
      const fault = faultOf(cases.get(file) ?? [], title);
      return fault === null ? [] : [`${what}: ${file}: "${title}" ${fault}`];
    });
  });
}
