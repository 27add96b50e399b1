// Setup shared by all suites of a jest run: a directory for files that are created once and copied (`WEIR_TEST_RUN`;
// every user can traverse it, because under root PostgreSQL runs as another user), which is deleted after the last
// suite; and the compiled code of threads and processes under test, which is kept between runs, as `weir` itself does.
// The dashboard is built if its sources have changed, so that no Weir under test has to.
const { spawnSync } = require('node:child_process');
const {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const BUILD = join(__dirname, '..', 'control-plane', 'dashboard', 'build', 'build-dashboard.ts');

/** A file system in memory, and the required free bytes: several times the amount that the suites of a run use. */
const MEMORY = { folder: '/dev/shm', sizeBytes: 4 * 2 ** 30 };

/** Whether temporary files may be in memory: programs must be able to run from there. */
function isMemoryUsable() {
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY.folder);
  if (mount === undefined || !mount.includes(' tmpfs ') || mount.includes('noexec')) return false;
  try {
    accessSync(MEMORY.folder, constants.W_OK | constants.X_OK);
  } catch {
    return false;
  }
  const { bavail, bsize } = statfsSync(MEMORY.folder);
  return bavail * bsize > MEMORY.sizeBytes;
}

module.exports = () => {
  // Each database has a thousand files; on a disk, a third of a suite's time would be spent on creating and deleting
  // them.
  const isInMemory = process.env.TMPDIR === undefined && isMemoryUsable();
  const folder = mkdtempSync(join(isInMemory ? MEMORY.folder : tmpdir(), 'weir-run-'));
  // Processes of other users create files there if it takes the place of /tmp.
  chmodSync(folder, isInMemory ? 0o1777 : 0o755);
  if (isInMemory) process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  // Without a listener, a signal ends the process immediately and leaves the directory.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
  process.env.WEIR_TEST_RUN = folder;
  process.env.NODE_COMPILE_CACHE ??= join(__dirname, '..', 'node_modules', '.cache', 'weir', 'code');
  // A failed build prints the reason; tests that do not need the dashboard still run.
  spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', BUILD, '--if-changed'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
};
