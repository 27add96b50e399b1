// What all suites of one run of jest share, made before the first of them and gone after the last: a folder for what
// is made once and copied (`WEIR_TEST_RUN`; every user can pass through, as PostgreSQL runs as another one under root),
// and the compiled code of threads and processes under test, which is kept between runs as `weir` itself keeps it. The
// dashboard is built if its sources have changed, so that no Weir under test does so.
const { spawnSync } = require('node:child_process');
const { chmodSync, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const BUILD = join(__dirname, '..', 'control-plane', 'dashboard', 'build', 'build-dashboard.ts');

module.exports = () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-run-'));
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.env.WEIR_TEST_RUN = folder;
  process.env.NODE_COMPILE_CACHE ??= join(__dirname, '..', 'node_modules', '.cache', 'weir', 'code');
  // A build that fails says why; the tests of what does not need one go on.
  spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', BUILD, '--if-changed'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
};
