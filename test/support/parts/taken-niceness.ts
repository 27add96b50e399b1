/** A process that sets the priorities of its threads, as Weir does when it starts. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const MODULE = join(import.meta.dirname, '../../../control-plane/node/system/thread-priorities.ts');
/** Niceness at the start of the process. */
export const OWN = 10;

/**
 * Runs the process; `running` is the niceness of a running Weir. Returns the wanted niceness, and the niceness after
 * each of the two calls.
 */
export function takenNiceness(running: number | undefined, isAllowed: boolean): number[] {
  const script = `
    import { getPriority, setPriority } from 'node:os';
    import { adoptDnsPriority, raiseDnsPriority } from ${JSON.stringify(MODULE)};
    setPriority(${String(OWN)});
    ${isAllowed ? '' : `if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }`}
    const logger = { debug: () => undefined };
    const wanted = adoptDnsPriority(${String(running)}, logger);
    const answers = getPriority();
    raiseDnsPriority(wanted, logger);
    console.log(JSON.stringify([wanted, answers, getPriority()]));`;
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as number[];
}
