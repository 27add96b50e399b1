/** `weir cache flush`: clears the cache. */
import { printableJson } from '../output/printable.ts';
import { textOption } from './command-run.ts';
import type { CommandRun } from './command-run.ts';

/** Clears the answers for a name and its subdomains, or all answers. */
export async function flushCache(run: CommandRun): Promise<0> {
  const { client, screen, isJson } = run;
  const query = { domain: textOption(run, 'domain'), type: textOption(run, 'type') };
  await client.call('DELETE /cache/entries', { query });
  if (isJson) screen.out(printableJson({ flushed: true, ...query }));
  else
    screen.out(
      `cleared ${query.domain === undefined ? 'all answers' : `the answers for ${query.domain}`} from the cache`,
    );
  return 0;
}
