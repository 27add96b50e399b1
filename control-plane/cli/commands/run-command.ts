/** Runs the commands that contact a server, and prints errors. */
import { ApiFailure } from '../../../shared/api/client/typed-client.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { GivenOptions } from '../arguments.ts';
import { printable } from '../output/printable.ts';
import type { Screen } from '../output/screen.ts';
import { connectApi, Misuse } from '../remote/api-connection.ts';
import { Unreachable } from '../remote/node-fetch.ts';
import type { RunCommand } from './command-run.ts';
import { removeSecondFactor } from './remove-second-factor.ts';
import { reloadConfig, setConfig } from './change-config.ts';
import { pauseBlocking, resumeBlocking } from './switch-blocking.ts';
import { refreshLists, showLists } from './show-lists.ts';
import { flushCache } from './flush-cache.ts';
import { rollBack } from './roll-back.ts';
import { nounRuns } from './run-noun.ts';
import { importFile } from './import-file.ts';
import { restoreFile, writeBackup } from './move-backup.ts';
import { simulateDraft } from './simulate-draft.ts';
import { showConfig } from './show-config.ts';
import { showExplanation } from './show-explanation.ts';
import { showStatus } from './show-status.ts';
import { showTail } from './show-tail.ts';
import { showTop } from './show-top.ts';

/** Exit status of a command, as described in the help. */
export type ExitStatus = 0 | 1 | 2 | 3;

const COMMANDS: ReadonlyMap<string, RunCommand> = new Map<string, RunCommand>([
  ...nounRuns(),
  ['revisions rollback', rollBack],
  ['status', showStatus],
  ['explain', showExplanation],
  ['top', showTop],
  ['tail', showTail],
  ['lists', showLists],
  ['lists refresh', refreshLists],
  ['pause', pauseBlocking],
  ['resume', resumeBlocking],
  ['config get', showConfig],
  ['import', importFile],
  ['backup', writeBackup],
  ['restore', restoreFile],
  ['simulate', simulateDraft],
  ['cache flush', flushCache],
  ['remove-second-factor', removeSecondFactor],
  ['config set', setConfig],
  ['config reload', reloadConfig],
]);

/** A command with its arguments and options. */
export interface AskedCommand {
  readonly name: string;
  readonly arguments: readonly string[];
  readonly options: GivenOptions;
}

/** Contacts the server; returns the exit status. */
export async function runCommand(
  asked: AskedCommand,
  screen: Screen,
  env: NodeJS.ProcessEnv,
): Promise<ExitStatus> {
  try {
    const run = COMMANDS.get(asked.name);
    if (run === undefined) throw new Misuse(`command "${asked.name}" does not contact a server`);
    const client = await connectApi(asked.options, env);
    return await run({ client, screen, ...asked, isJson: asked.options['json'] === true });
  } catch (error) {
    for (const line of reasonOf(error).split('\n')) screen.err(`weir: ${printable(line)}`);
    if (error instanceof ApiFailure && error.status === 401)
      screen.err('weir: specify an API token with --token-file or $WEIR_TOKEN');
    if (error instanceof Misuse) return 2;
    return error instanceof Unreachable ? 3 : 1;
  }
}
