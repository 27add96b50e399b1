/** `weir pause` and `weir resume`: pauses and resumes all blocking. */
import { printableJson } from '../output/printable.ts';
import { durationSecs } from '../output/quantities.ts';
import { Misuse } from '../remote/api-connection.ts';
import type { CommandRun } from './command-run.ts';
import { blockingText } from './show-status.ts';

/** Pauses blocking, for a duration if one is given. */
export async function pauseBlocking(run: CommandRun): Promise<0> {
  const [time] = run.arguments;
  const secs = time === undefined ? null : durationSecs(time);
  if (time !== undefined && (secs === null || secs === 0))
    throw new Misuse(`expected a duration such as 10m or 1h30m, got "${time}"`);
  await run.client.call('POST /blocking', { body: { enabled: false, timer_secs: secs } });
  return print(run);
}

/**
 * Returns to the configured state of blocking. If blocking was paused on this node without a database, it is enabled on
 * this node until the end of that pause; after that, the state in the database applies again.
 */
export async function resumeBlocking(run: CommandRun): Promise<0> {
  const { client } = run;
  const { this_node_only: isHereOnly, timer_secs: secs } = await client.call('GET /blocking');
  if (isHereOnly) await client.call('POST /blocking', { body: { enabled: true, timer_secs: secs } });
  else await client.call('DELETE /blocking');
  return print(run);
}

async function print({ client, screen, isJson }: CommandRun): Promise<0> {
  const blocking = await client.call('GET /blocking');
  screen.out(isJson ? printableJson(blocking, 2) : `blocking is ${blockingText(blocking)}`);
  return 0;
}
