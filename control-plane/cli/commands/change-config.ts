/** `weir config set` and `weir config reload`: change the configuration of a running server. */
import { isSecret } from '../../../config/layers.ts';
import { readValue } from '../../../config/environment.ts';
import { printableJson } from '../output/printable.ts';
import { Misuse } from '../remote/api-connection.ts';
import type { CommandRun } from './command-run.ts';

/** Sets one key; the value is written as in an environment variable. */
export async function setConfig(run: CommandRun): Promise<0> {
  const [key = '', text = ''] = run.arguments;
  const found = readValue(key, text);
  if (found === undefined) throw new Misuse(`unknown key ${key}`);
  // Rejected, because other users of the machine can see the arguments of a program.
  if (isSecret(key)) throw new Misuse(`${key} is a secret, which must not be passed as an argument`);
  const steps = key.split('.');
  const body = steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), found.value);
  const { restart_required: restart } = await run.client.call('PATCH /config', {
    query: { force: run.options['force'] === true },
    body: body as object,
  });
  return print(run, `${key} is set`, restart);
}

/** Makes the server reload its configuration file. */
export async function reloadConfig(run: CommandRun): Promise<0> {
  const { restart_required: restart } = await run.client.call('POST /config/reload');
  return print(run, 'the configuration file was reloaded', restart);
}

function print({ screen, isJson }: CommandRun, done: string, restart: readonly string[]): 0 {
  if (isJson) screen.out(printableJson({ success: true, restart_required: restart }, 2));
  else {
    screen.out(done);
    for (const key of restart) screen.out(`${key} takes effect after a restart`);
  }
  return 0;
}
