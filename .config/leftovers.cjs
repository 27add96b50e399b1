// Ends the processes that a suite has started and not ended, as when its set-up failed half-way: a node that is left keeps
// its port, and a lock that is left keeps other suites waiting. Used by the environment of the tests.
const { readdirSync, readFileSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');

const LOOK_MS = 5;
/** Longer than the kernel takes to end a process, even one that writes to a slow disk. */
const END_MS = 10_000;

/** Processes that run, by their parent. One that has ended and waits for its parent does not. */
function runningByParent() {
  const found = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let stat;
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'latin1');
    } catch {
      continue; // It has ended since.
    }
    // The name of a program may hold spaces and brackets; state and parent follow it (proc(5)).
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state !== 'Z' && state !== 'X') found.set(parent, [...(found.get(parent) ?? []), name]);
  }
  return found;
}

/** The children of this process that run. */
function children() {
  return runningByParent().get(String(process.pid)) ?? [];
}

/** Ends the children of this process that are not in `known`, and all that these have started. */
async function endOthers(known) {
  const byParent = runningByParent();
  const ended = new Set((byParent.get(String(process.pid)) ?? []).filter((pid) => !known.has(pid)));
  for (const pid of ended) for (const child of byParent.get(pid) ?? []) ended.add(child);
  for (const pid of ended) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended since.
    }
  }
  const lateMs = performance.now() + END_MS;
  const isRunning = () => [...runningByParent().values()].flat().some((pid) => ended.has(pid));
  while (ended.size > 0 && isRunning() && performance.now() < lateMs) await sleep(LOOK_MS);
}

module.exports = { children, endOthers };
