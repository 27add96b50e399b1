/** The steps of a start that can fail. If one fails in an upgrade, the running process continues. */

/**
 * The order is that of a process that takes over, which does not read queries until all steps that can fail are done.
 * Other starts begin with the DNS threads. Each failure is reported with its reason;
 * `test/e2e/upgrade/failing-steps.test.ts` makes each step fail.
 */
export const START_STEPS = [
  'open the data directory',
  'load the code',
  'take over the sockets',
  'prepare DNS',
  'load the policy',
  'start client discovery',
  'start the web server',
  'start the DNS threads',
  'lock the data directory',
  'listen for commands',
] as const;
export type StartStep = (typeof START_STEPS)[number];

/** Records the current step. */
export class StartSteps {
  private current: StartStep = START_STEPS[0];

  /** The current step, which is the failed one if the start has failed. */
  get step(): StartStep {
    return this.current;
  }

  /** Records that this step has begun. */
  begin(step: StartStep): void {
    this.current = step;
  }
}
