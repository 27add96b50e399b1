// Ends a run whose suites have left something open in this process, such as a socket after a failed set-up: jest itself
// would wait for it forever. It runs after the last suite; printing the rest takes jest less time.
const END_MS = 10_000;

module.exports = () => {
  setTimeout(() => {
    console.error('a suite left something open: the run ends without it');
    process.exit();
  }, END_MS).unref();
};
