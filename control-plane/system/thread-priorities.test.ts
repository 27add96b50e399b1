import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const MODULE = join(import.meta.dirname, 'thread-priorities.ts');
const OWN = 10;

/** What a process of this niceness gets: the returned value, and its niceness before and after its threads are put in order. */
function taken(running: number | undefined, isAllowed: boolean): number[] {
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

const isRoot = process.getuid?.() === 0;

describe('answerAsFirst()', () => {
  test('keeps the niceness of the start where there is no process before, or one that is nicer', () => {
    expect(taken(undefined, true)).toEqual([OWN, OWN, OWN + 3]);
    expect(taken(OWN + 5, true)).toEqual([OWN, OWN, OWN + 3]);
  });

  test('takes the niceness of the threads before, or stays without growing nicer where that is not allowed', () => {
    // Only root may lower it again.
    if (isRoot) expect(taken(1, true)).toEqual([1, 1, 4]);
    expect(taken(1, false)).toEqual([1, OWN, OWN]);
  });
});
