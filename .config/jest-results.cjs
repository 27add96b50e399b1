// A jest reporter. Writes the results of a run as JSON to the file named by `WEIR_TEST_RESULTS`, in the format of
// jest's own `--json`, for run-tests.js. Without that variable it prints the closing line, `N passed, N failed`, and
// makes a run with skipped tests fail.
const { writeFileSync, writeSync } = require('node:fs');
const { closingLine, countResults } = require('./test-results.js');

class Results {
  constructor(globalConfig) {
    this.testNamePattern = globalConfig.testNamePattern;
  }

  onRunComplete(_contexts, aggregated) {
    const skippedFiles = (process.env.WEIR_TEST_SKIPPED ?? '').split('\n').filter(Boolean);
    const testResults = aggregated.testResults.map(toFileResult);
    const results = { testNamePattern: this.testNamePattern, skippedFiles, testResults };
    const file = process.env.WEIR_TEST_RESULTS;
    if (file !== undefined) return writeFileSync(file, JSON.stringify(results));
    this.counts = countResults(results);
    process.once('exit', () => writeSync(1, `${closingLine(this.counts)}\n`));
  }

  /** jest fails the run if there is one. */
  getLastError() {
    return this.counts?.failed > 0 ? new Error(`${this.counts.failed} failed or skipped tests`) : undefined;
  }
}

function toFileResult({ testFilePath, testResults, testExecError, failureMessage, perfStats }) {
  return {
    name: testFilePath,
    startTime: perfStats.start,
    endTime: perfStats.end,
    message: failureMessage ?? testExecError?.message ?? '',
    assertionResults: testResults.map(
      ({ ancestorTitles, title, fullName, status, duration, failureMessages }) => ({
        ...{ ancestorTitles, title, fullName, status, duration, failureMessages },
      }),
    ),
  };
}

module.exports = Results;
