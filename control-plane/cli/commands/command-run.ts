/** Parameters of commands that contact a server. */
import type { TypedClient } from '../../../shared/api/client/typed-client.ts';
import type { GivenOptions } from '../arguments.ts';
import type { Screen } from '../output/screen.ts';

/** One run of a command. */
export interface CommandRun {
  readonly client: TypedClient;
  readonly screen: Screen;
  readonly arguments: readonly string[];
  readonly options: GivenOptions;
  /** Whether to print JSON. */
  readonly isJson: boolean;
}

/** Runs a command; returns the exit status. `run-command.ts` prints the errors that it throws. */
export type RunCommand = (run: CommandRun) => Promise<0 | 1>;

/** The value of an option; undefined if the option was not given. */
export function textOption({ options }: Pick<CommandRun, 'options'>, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}
