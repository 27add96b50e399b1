/** The steps of a start that can fail. An upgrade in which one fails leaves the running process in place. */

/**
 * In the order of a process that takes over: it reads no query before all is ready that could fail. Another start has DNS
 * threads first. Each is reported with its reason; `test/e2e/upgrade/failing-steps.test.ts` has each of them fail.
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
  'take the data directory',
  'listen for commands',
] as const;
export type StartStep = (typeof START_STEPS)[number];

/** Notes which step is under way. */
export class StartSteps {
  private current: StartStep = START_STEPS[0];

  /** The step under way, which has failed if the start has. */
  get step(): StartStep {
    return this.current;
  }

  /** Notes that this step has begun. */
  begin(step: StartStep): void {
    this.current = step;
  }
}
