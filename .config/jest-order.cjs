// The order of the suites, the same on every machine and in every clone. jest sorts them by the times of earlier runs,
// which a new clone does not have, and then by size, so that a short file that runs for a minute would come last, next
// to an idle core.
// - Suites that need the network exclusively come before those with a browser, which would delay them.
// - Suites that start nodes, browsers or other programs come before the others.
const { readFileSync } = require('node:fs');
const { relative } = require('node:path');

const ALONE = "holdNetwork('alone')";
const STARTS_PROGRAMS = /^test\/(?:api|conformance|dashboard|demo|deploy|e2e|lab)\//;

/** jest's interface of a sequencer; it stores no times. */
class Order {
  sort(tests) {
    const rows = tests.map((test) => {
      const path = relative(test.context.config.rootDir, test.path);
      const text = STARTS_PROGRAMS.test(path) ? readFileSync(test.path, 'utf8') : '';
      const isAlone = text.includes(ALONE);
      const isProgram = text !== '';
      return { test, path, isAlone, isProgram, size: test.context.hasteFS.getSize(test.path) ?? 0 };
    });
    const bySize = (a, b) => b.size - a.size || a.path.localeCompare(b.path);
    const alone = rows.filter(({ isAlone }) => isAlone).sort(bySize);
    const others = rows
      .filter(({ isAlone }) => !isAlone)
      .sort((a, b) => Number(b.isProgram) - Number(a.isProgram) || bySize(a, b));
    // One after another, as they would only wait for each other in parallel.
    const first = alone.flatMap((row, at) => [row, ...others.slice(at, at + 1)]);
    return [...first, ...others.slice(alone.length)].map(({ test }) => test);
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return this.sort(tests);
  }

  cacheResults() {}
}

module.exports = Order;
