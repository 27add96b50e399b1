/** `weir cache flush`: answers are asked for again. */
import { printableJson } from '../output/printable.ts';
import { textOption } from './command-run.ts';
import type { CommandRun } from './command-run.ts';

/** Drops the answers of a name with all below it, or all. */
export async function flushCache(run: CommandRun): Promise<0> {
  const { client, screen, isJson } = run;
  const query = { domain: textOption(run, 'domain'), type: textOption(run, 'type') };
  await client.call('DELETE /cache/entries', { query });
  if (isJson) screen.out(printableJson({ flushed: true, ...query }));
  else screen.out(`dropped ${query.domain === undefined ? 'all answers' : `the answers of ${query.domain}`}`);
  return 0;
}
