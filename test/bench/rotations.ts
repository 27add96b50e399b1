// Order of the measurements of a workload: every server is started, warmed and checked once, then all servers take
// turns. Each rotation starts with a different server, so that no server is always first. A server that fails is left
// out and its reason is reported; the other servers continue.
import type { Run } from './report/figures.ts';
import type { PreparedWorkload } from './prepared-workload.ts';
import type { RunningServer, Stage } from './running-server.ts';
import { measure, startServer, warmAndCheck } from './running-server.ts';
import type { Contestant } from './servers/server-table.ts';

/** Range of serial numbers for a run, so that two runs never query the same unique name. */
const SERIALS_PER_RUN = 8_000_000;

export interface Exclusion {
  server: string;
  reason: string;
}

/** Starts the servers one after another (each alone on its core, so that load times are comparable). */
export async function startAll(
  stage: Stage,
  contestants: readonly Contestant[],
  queryLog: (contestant: Contestant) => boolean,
  excluded: Exclusion[],
): Promise<RunningServer[]> {
  const running: RunningServer[] = [];
  for (const [place, contestant] of contestants.entries()) {
    const started = await orExclude(contestant.server.name, excluded, async () =>
      startServer(stage, contestant, place, queryLog(contestant)),
    );
    if (started === undefined) continue;
    console.log(`  ${started.name} is up after ${started.loadSecs.toFixed(2)} s`);
    running.push(started);
  }
  return running;
}

/** Warms and checks the servers, then measures the servers that passed the check. */
export async function runRotations(
  stage: Stage,
  servers: readonly RunningServer[],
  workload: PreparedWorkload,
  rotations: number,
  excluded: Exclusion[],
): Promise<Run[]> {
  let ready: RunningServer[] = [];
  for (const server of servers) {
    const passed = await orExclude(server.name, excluded, async () => {
      await warmAndCheck(stage, server, workload);
      return true;
    });
    if (passed === true) ready.push(server);
  }
  const runs: Run[] = [];
  for (let rotation = 0; rotation < rotations; rotation++) {
    const first = ready.length === 0 ? 0 : rotation % ready.length;
    for (const server of [...ready.slice(first), ...ready.slice(0, first)]) {
      const firstSerial = workload.unique ? (runs.length * SERIALS_PER_RUN) % 2 ** 32 : undefined;
      const run = await orExclude(server.name, excluded, async () =>
        measure(stage, server, workload, rotation, firstSerial),
      );
      if (run === undefined) ready = ready.filter((other) => other !== server);
      else runs.push(run);
    }
    console.log(`  rotation ${rotation + 1} of ${rotations} done`);
  }
  return runs;
}

async function orExclude<Result>(
  server: string,
  excluded: Exclusion[],
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    const reason = messages(error).join(': ');
    console.error(`  ${server} is left out: ${reason}`);
    excluded.push({ server, reason });
    return undefined;
  }
}

function messages(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  return [error.message, ...(error.cause === undefined ? [] : messages(error.cause))];
}
