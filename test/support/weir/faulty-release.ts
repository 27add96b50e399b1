/** A copy of a release that fails at one step of its start, as the target of upgrades. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StartStep } from '../../../control-plane/node/upgrade/start-steps.ts';

/** How the process fails: by an error, or by a signal, as when the kernel runs out of memory. */
export type StepFault = 'throws' | 'is killed';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** The parts of a release, except its packages. */
const PARTS = ['config', 'control-plane', 'dns-worker', 'migrations', 'shared', 'package.json'];
const STEPS_FILE = join('control-plane', 'node', 'upgrade', 'start-steps.ts');
/** The line of `STEPS_FILE` at which the fault is inserted. */
const BEGINS = '    this.current = step;\n';

/** The reason that a failing step reports. */
export const FAULT_REASON = 'a fault of this release';

const FAULTS: Readonly<Record<StepFault, string>> = {
  throws: `throw new Error(${JSON.stringify(FAULT_REASON)});`,
  'is killed': "process.kill(process.pid, 'SIGKILL');",
};

/** A copy of a release with a fault that tests set and change. */
export class FaultyRelease {
  readonly folder: string;
  private readonly steps: string;

  /** Copies the release in `from`, by default this one, to a new folder. It has no fault until `failAt()` is called. */
  constructor(folder: string, from = ROOT) {
    this.folder = folder;
    for (const part of PARTS) cpSync(join(from, part), join(folder, part), { recursive: true });
    symlinkSync(join(from, 'node_modules'), join(folder, 'node_modules'));
    this.steps = readFileSync(join(folder, STEPS_FILE), 'utf8');
  }

  /** Makes the start of the release fail at this step. */
  failAt(step: StartStep, fault: StepFault): void {
    if (!this.steps.includes(BEGINS)) throw new Error('this release does not name its steps');
    const faulty = `${BEGINS}    if (step === ${JSON.stringify(step)}) ${FAULTS[fault]}\n`;
    writeFileSync(join(this.folder, STEPS_FILE), this.steps.replace(BEGINS, faulty));
  }

  /** Damages a file of the release so that the file is not a valid program. */
  damage(file: string): void {
    writeFileSync(join(this.folder, file), 'this is not a program');
  }
}
