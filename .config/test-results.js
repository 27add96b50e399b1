// Reads results of jest runs as jest-results.cjs writes them: which files failed and why, and counts.
import { stripVTControlCharacters } from 'node:util';

const MESSAGE_LINES = 12;

/**
 * Failures of a file: its failed tests, and one more for failures outside its tests (loading, `afterAll`). Unless tests
 * were selected by name, a skipped test counts as failed, because it proves nothing.
 */
function failuresOf({ assertionResults, message }, isByName) {
  const failed = assertionResults.filter(({ status }) => status === 'failed').length;
  const notRun = assertionResults.filter(({ status }) => status !== 'failed' && status !== 'passed').length;
  const outside = failed === 0 && message !== '' ? 1 : 0;
  return failed + outside + (isByName ? 0 : notRun);
}

/** Files with a failure. */
export function failedFiles({ testResults, testNamePattern }) {
  return testResults.filter((file) => failuresOf(file, Boolean(testNamePattern)) > 0);
}

/** `results`, in which `again` replaces the file with the same name. */
export function replaceFile(results, again) {
  const testResults = results.testResults.map((file) => (file.name === again.name ? again : file));
  return { ...results, testResults };
}

/**
 * The first failed test of a file, or its first skipped test if none failed: name, message and duration. If there is
 * neither, the file failed as a whole.
 */
export function firstFailure({ assertionResults, message, startTime, endTime }) {
  const failed =
    assertionResults.find(({ status }) => status === 'failed') ??
    assertionResults.find(({ status }) => status !== 'passed');
  const reason = failed?.failureMessages[0] ?? (message === '' ? (failed?.status ?? '') : message);
  const text = stripVTControlCharacters(reason).trim();
  return {
    title: failed?.fullName ?? 'the file as a whole',
    message: text.split('\n').slice(0, MESSAGE_LINES).join('\n'),
    durationMs: failed?.duration ?? endTime - startTime,
  };
}

/** Number of passed tests, of failures, and of files that were skipped because a package is missing. */
export function countResults({ testResults, testNamePattern, skippedFiles }) {
  const sum = (countOf) => testResults.reduce((total, file) => total + countOf(file), 0);
  return {
    passed: sum(
      ({ assertionResults }) => assertionResults.filter(({ status }) => status === 'passed').length,
    ),
    failed: sum((file) => failuresOf(file, Boolean(testNamePattern))),
    skipped: skippedFiles.length,
  };
}

/** `N passed, N failed`, with `, N skipped` if files were skipped. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
