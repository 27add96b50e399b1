// Ends the processes that a suite has started and not ended, for example after a failed set-up: a leftover node
// occupies its port, and a leftover lock blocks other suites. Used by the environment of the tests.
const { readdirSync, readFileSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');

const POLL_MS = 5;
/** Longer than the kernel takes to end a process, even one that writes to a slow disk. */
const END_MS = 10_000;

/** Entries of a folder of /proc; none if the process has ended since. */
function entries(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Whether a process is running. One that has ended and waits for its parent is not. */
function isRunning(pid) {
  return /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`));
}

/** The running children of a process; by default those of this one. */
function children(pid = 'self') {
  const tasks = entries(`/proc/${pid}/task`);
  return tasks
    .flatMap((task) => read(`/proc/${pid}/task/${task}/children`).split(' '))
    .filter((child) => child !== '' && isRunning(child));
}

function kill(pid) {
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}

/**
 * Ends the children of this process that are not in `known`, with their children. A process whose parent has ended is
 * not found.
 */
async function endOthers(known) {
  const left = new Set();
  const lateMs = performance.now() + END_MS;
  for (;;) {
    // Repeated at each check, for those started in the meantime.
    for (const pid of children()) if (!known.has(pid)) left.add(pid);
    for (const pid of left) for (const child of children(pid)) left.add(child);
    const running = [...left].filter(isRunning);
    if (running.length === 0) return;
    if (performance.now() > lateMs) {
      const commands = running.map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '));
      console.error(`a suite left processes that do not end: ${commands.join(', ')}`);
      return;
    }
    for (const pid of running) kill(pid);
    await sleep(POLL_MS);
  }
}

module.exports = { children, endOthers };
