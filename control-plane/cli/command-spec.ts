/** Types for the table of subcommands of `weir`, which is used for parsing, help and completion. */

/** An option of a command. */
export interface OptionSpec {
  readonly name: string;
  /** Placeholder of the value in the help; absent = the option has no value. */
  readonly value?: string;
  readonly help: string;
  /** Allowed values; absent = any value. */
  readonly choices?: readonly string[];
}

/** A subcommand. */
export interface CommandSpec {
  /** Name of the command, one or two words. */
  readonly name: string;
  /** Arguments as shown in the help, such as `<domain>`. */
  readonly arguments: string;
  readonly min: number;
  readonly max: number;
  /** Allowed values of the first argument; absent = any value. */
  readonly choices?: readonly string[];
  /** Whether the arguments are files, for completion. */
  readonly takesFiles?: true;
  /** Summary: one clause, without a full stop. */
  readonly summary: string;
  readonly options: readonly OptionSpec[];
  /** Whether the command sends requests to a running server. */
  readonly isRemote: boolean;
  /** For a command that consists of a noun and a verb: the noun. The overview shows only the noun. */
  readonly verbOf?: string;
  readonly examples?: readonly string[];
}

export const CONFIG = { name: 'config', value: 'FILE', help: 'the configuration file' } as const;

/** Options of all commands that contact a server. */
const REMOTE: readonly OptionSpec[] = [
  CONFIG,
  { name: 'json', help: 'print JSON for programs' },
  { name: 'url', value: 'URL', help: 'contact this server instead of the one of the data directory' },
  { name: 'token-file', value: 'FILE', help: 'an API token for --url; else $WEIR_TOKEN' },
];

/** Specifies a command that runs without contacting a server; `file`: whether it reads the configuration. */
export function here(name: string, summary: string, file = true): CommandSpec {
  return { name, arguments: '', min: 0, max: 0, summary, options: file ? [CONFIG] : [], isRemote: false };
}

type Remote = Partial<CommandSpec> & Pick<CommandSpec, 'name' | 'summary'>;

/** Specifies a command that contacts a server. */
export function remote({ options = [], ...spec }: Remote): CommandSpec {
  return { arguments: '', min: 0, max: 0, ...spec, options: [...options, ...REMOTE], isRemote: true };
}
