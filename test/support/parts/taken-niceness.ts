/** A process that sets the priorities of its threads, as Weir does when it starts. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const MODULE = join(import.meta.dirname, '../../../control-plane/node/system/thread-priorities.ts');
/** The niceness at its start. */
export const OWN = 10;

/**
 * Result of a process with this niceness: the returned value, and the niceness before and after it sets the priorities.
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
