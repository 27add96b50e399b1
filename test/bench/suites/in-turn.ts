// Several Weir servers that differ in one setting. They are measured in turn, so that figures are compared within a
// rotation.
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from '../bench.ts';
import type { PreparedWorkload } from '../prepared-workload.ts';
import type { Run } from '../report/figures.ts';
import type { RunningServer, Stage } from '../running-server.ts';
import { measure, startServer, warmAndCheck } from '../running-server.ts';
import { weirContestant } from '../servers/server-table.ts';
import type { WeirVariant } from '../servers/weir.ts';

/** Time to store the rows written while warming. */
const SETTLE_MS = 3000;

/** One of the Weir servers, with its list and its workload. */
export interface Step {
  variant: WeirVariant;
  stage: Stage;
  workload: PreparedWorkload;
}

export interface StartedStep extends Step {
  running: RunningServer;
}

/** Starts the Weir servers one after another and warms their caches. */
export async function startSteps(steps: readonly Step[]): Promise<StartedStep[]> {
  const started: StartedStep[] = [];
  for (const [place, step] of steps.entries()) {
    const running = await startServer(step.stage, weirContestant(ROOT, step.variant), place, true);
    console.log(`  ${running.name} is up after ${running.loadSecs.toFixed(2)} s`);
    await warmAndCheck(step.stage, running, step.workload);
    started.push({ ...step, running });
  }
  await delay(SETTLE_MS);
  return started;
}

/** Measures each server in every rotation; each rotation starts with a different server. */
export async function runInTurn(steps: readonly StartedStep[], rotations: number): Promise<Run[]> {
  const runs: Run[] = [];
  for (let rotation = 0; rotation < rotations; rotation++) {
    const first = rotation % steps.length;
    for (const { stage, running, workload } of [...steps.slice(first), ...steps.slice(0, first)])
      runs.push(await measure(stage, running, workload, rotation, undefined));
    console.log(`  rotation ${rotation + 1} of ${rotations} done`);
  }
  return runs;
}

/** Stops all of the servers. */
export async function stopSteps(steps: readonly StartedStep[]): Promise<void> {
  for (const { running } of steps) await running.child.stop();
}

/** Start-up times by server name, in the form that the tables need. */
export function loadTimes(steps: readonly StartedStep[]): Map<string, number> {
  return new Map(steps.map(({ running }) => [running.name, running.loadSecs]));
}
