// A jest reporter. Writes the results of a run as JSON to the file that `WEIR_TEST_RESULTS` names, in the format of
// jest's own `--json`, for run-tests.js. Without that variable it prints the closing line: `N passed, N failed`.
const { writeFileSync, writeSync } = require('node:fs');

class Results {
  constructor(globalConfig) {
    this.testNamePattern = globalConfig.testNamePattern;
  }

  onRunComplete(_contexts, results) {
    const file = process.env.WEIR_TEST_RESULTS;
    if (file !== undefined) {
      const testResults = results.testResults.map(toFileResult);
      writeFileSync(
        file,
        JSON.stringify({
          testNamePattern: this.testNamePattern,
          wasInterrupted: results.wasInterrupted,
          skippedFiles: (process.env.WEIR_TEST_SKIPPED ?? '').split('\n').filter(Boolean),
          testResults,
        }),
      );
      return;
    }
    // A suite that could not be loaded has no test to count, so it counts as one failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.once('exit', () => writeSync(1, `${results.numPassedTests} passed, ${failed} failed\n`));
  }
}

function toFileResult({ testFilePath, testResults, failureMessage, perfStats }) {
  return {
    name: testFilePath,
    startTime: perfStats.start,
    endTime: perfStats.end,
    message: failureMessage ?? '',
    assertionResults: testResults.map(
      ({ ancestorTitles, title, fullName, status, duration, failureMessages }) => ({
        ...{ ancestorTitles, title, fullName, status, duration, failureMessages },
      }),
    ),
  };
}

module.exports = Results;
