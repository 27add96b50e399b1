/** A process that puts its threads in order, as Weir does when it starts. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const MODULE = join(import.meta.dirname, '../../../control-plane/node/system/thread-priorities.ts');
/** The niceness that it is started with. */
export const OWN = 10;

/** Returned value of a process of this niceness, and its niceness before and after its threads are put in order. */
export function takenNiceness(running: number | undefined, isAllowed: boolean): number[] {
  const script = `
    import { getPriority, setPriority } from 'node:os';
    import { answerAsFirst, putAnswersFirst } from ${JSON.stringify(MODULE)};
    setPriority(${String(OWN)});
    ${isAllowed ? '' : `if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }`}
    const logger = { debug: () => undefined };
    const wanted = answerAsFirst(${String(running)}, logger);
    const answers = getPriority();
    putAnswersFirst(wanted, logger);
    console.log(JSON.stringify([wanted, answers, getPriority()]));`;
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as number[];
}
