/** `weir token create`: an API token for a program. */
import type { CallOf } from '../../../shared/api/client/typed-client.ts';
import { printable, printableJson } from '../output/printable.ts';
import { textOption } from './command-run.ts';
import type { CommandRun } from './command-run.ts';

/** Makes a token. Its key alone goes to standard output, so that `> token-file` keeps it. */
export async function createToken(run: CommandRun): Promise<0> {
  const { client, screen, isJson } = run;
  // The command line has checked the role.
  const role = textOption(run, 'role') as CallOf<'POST /api-tokens'>['body']['role'];
  const token = await client.call('POST /api-tokens', { body: { name: run.arguments[0]!, role } });
  if (isJson) {
    screen.out(printableJson(token, 2));
    return 0;
  }
  screen.err(`weir: token "${printable(token.name)}" of the role ${token.role}; its key is shown this once`);
  screen.out(token.key);
  return 0;
}
