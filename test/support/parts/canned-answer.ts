/** A run of a command against an API that sends the same response to every request. */
import { TypedClient } from '../../../shared/api/client/typed-client.ts';
import type { CommandRun } from '../../../control-plane/cli/commands/command-run.ts';
import { memoryScreen, type MemoryScreen } from './memory-screen.ts';

/** The run and the requests that the command sent. */
export interface CannedRun extends CommandRun {
  readonly screen: MemoryScreen;
  readonly sent: { readonly url: string; readonly body: unknown }[];
}

/** Runs a command with these arguments and options. */
export function cannedRun(
  answer: unknown,
  given: readonly string[],
  options: CommandRun['options'] = {},
): CannedRun {
  const sent: { url: string; body: unknown }[] = [];
  const client = new TypedClient({
    baseUrl: '/api',
    fetch: (url, { body }) => {
      sent.push({ url, body: typeof body === 'string' ? JSON.parse(body) : body });
      return Promise.resolve(Response.json(answer));
    },
  });
  return { client, screen: memoryScreen(), arguments: given, options, isJson: false, sent };
}
