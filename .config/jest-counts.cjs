// A jest reporter of one line: `N passed, N failed`, alone, after everything else jest prints. A suite
// that could not even be loaded has no test to count, so it counts as one failure. A skipped test is a
// failure as well (a test that does not run proves nothing), unless only some were asked for by name.
const { writeSync } = require('node:fs');

class Counts {
  constructor(globalConfig) {
    this.someByName = Boolean(globalConfig.testNamePattern);
    this.skipped = 0;
  }

  onRunComplete(_contexts, results) {
    this.skipped = this.someByName ? 0 : results.numPendingTests + results.numTodoTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + this.skipped;
    process.once('exit', () => writeSync(1, `${results.numPassedTests} passed, ${failed} failed\n`));
  }

  getLastError() {
    return this.skipped > 0 ? new Error(`${this.skipped} tests were skipped`) : undefined;
  }
}

module.exports = Counts;
