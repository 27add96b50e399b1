// Reads results of jest runs as jest-results.cjs writes them: which files failed and why, counts, and two runs merged.
import { stripVTControlCharacters } from 'node:util';

const MESSAGE_LINES = 12;

/** Files with a failed test, or that could not be run. */
export function failedFiles({ testResults }) {
  return testResults.filter(hasFailed);
}

function hasFailed({ assertionResults, message }) {
  return (
    assertionResults.some(({ status }) => status === 'failed') ||
    (message !== '' && !hasRun(assertionResults))
  );
}

/** A suite that could not be loaded has a message and no tests. */
function hasRun(assertionResults) {
  return assertionResults.length > 0;
}

/** `results` with the files of `later` in place of the same files. */
export function mergeResults(results, later) {
  const replaced = new Map(later.testResults.map((file) => [file.name, file]));
  return { ...results, testResults: results.testResults.map((file) => replaced.get(file.name) ?? file) };
}

/** The first failed test of a file: its name, message and duration. A suite without tests fails as a whole. */
export function firstFailure({ assertionResults, message, startTime, endTime }) {
  const failed = assertionResults.find(({ status }) => status === 'failed');
  const text = stripVTControlCharacters(failed?.failureMessages[0] ?? message).trim();
  return {
    title: failed?.fullName ?? 'the file could not be run',
    message: text.split('\n').slice(0, MESSAGE_LINES).join('\n'),
    durationMs: failed?.duration ?? endTime - startTime,
  };
}

/**
 * The closing line: `N passed, N failed`, with `, N skipped` if files were left out. A file that could not be run counts as one failure, as
 * does a row of requirements whose case is missing.
 * A skipped test counts as failed: a test that does not run proves nothing. Those left out by name do not count.
 */
export function countResults({ testResults, testNamePattern, skippedFiles }, missingRows) {
  const statuses = testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ status }) => status),
  );
  const count = (...wanted) => statuses.filter((status) => wanted.includes(status)).length;
  const unloaded = testResults.filter((file) => hasFailed(file) && !hasRun(file.assertionResults)).length;
  const skipped = testNamePattern ? 0 : count('pending', 'todo', 'skipped', 'disabled');
  const line = `${count('passed')} passed, ${count('failed') + unloaded + skipped + missingRows} failed`;
  return skippedFiles.length > 0 ? `${line}, ${skippedFiles.length} skipped` : line;
}
