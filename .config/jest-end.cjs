// Ends a run whose suites have left something open in this process, such as a socket after a set-up that failed half-way:
// jest itself would wait for it for ever. Runs after the last suite; what jest still has to print takes less time.
const END_MS = 10_000;

module.exports = () => {
  setTimeout(() => {
    console.error('a suite left something open: the run ends without it');
    process.exit();
  }, END_MS).unref();
};
