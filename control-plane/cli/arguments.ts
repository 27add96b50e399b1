/** Parses the command line of `weir`, according to the table of commands. */
import { parseArgs } from 'node:util';
import { commandNamed, COMMANDS } from './command-table.ts';
import type { CommandSpec } from './command-spec.ts';

/** Options from the command line; the value is true if the option has no value. */
export type GivenOptions = Readonly<Record<string, string | true>>;

/** A parsed command line. */
export type Command =
  | {
      readonly kind: 'run';
      readonly spec: CommandSpec;
      readonly arguments: readonly string[];
      readonly options: GivenOptions;
    }
  /** Help for one command or for all commands. */
  | { readonly kind: 'help'; readonly spec: CommandSpec | undefined }
  | { readonly kind: 'version' }
  | { readonly kind: 'mistake'; readonly message: string };

/** All options by name; an option that several commands have must have the same type in all of them. */
const OPTIONS = Object.fromEntries(
  COMMANDS.flatMap((spec: CommandSpec) => spec.options).map(({ name, value }) => [
    name,
    { type: value === undefined ? ('boolean' as const) : ('string' as const) },
  ]),
);

/** Parses the arguments after the program's name. */
export function parseArguments(argv: readonly string[]): Command {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...OPTIONS, help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { kind: 'mistake', message: lowerFirst(error.message) };
  }
  const { help, version, ...options } = parsed.values as Record<string, string | true>;
  const words = parsed.positionals;
  const spec = commandNamed(words);
  if (help === true) return { kind: 'help', spec };
  if (version === true) return { kind: 'version' };
  if (spec === undefined) return mistake(unknownCommand(words[0]));
  const given = words.slice(spec.name.split(' ').length);
  const fault = faultOf(spec, given, options);
  return fault === null ? { kind: 'run', spec, arguments: given, options } : mistake(fault);
}

function mistake(message: string): Command {
  return { kind: 'mistake', message };
}

function unknownCommand(word: string | undefined): string {
  const names = COMMANDS.map(({ name }) => name).join(', ');
  return word === undefined
    ? `name a subcommand: ${names}`
    : `unknown subcommand "${word}"; use one of ${names}`;
}

function faultOf(spec: CommandSpec, given: readonly string[], options: GivenOptions): string | null {
  if (given.length < spec.min) return `"weir ${spec.name}" needs ${spec.arguments}`;
  if (given.length > spec.max) return `unexpected argument "${given[spec.max] ?? ''}"`;
  const [first] = given;
  if (first !== undefined && spec.choices !== undefined && !spec.choices.includes(first))
    return `expected ${spec.choices.join(', ')}, got "${first}"`;
  for (const [name, value] of Object.entries(options)) {
    const option = spec.options.find((one) => one.name === name);
    if (option === undefined) return `"weir ${spec.name}" has no option --${name}`;
    if (value === '') return `--${name} needs ${option.value ?? 'a value'}`;
    if (option.choices !== undefined && !option.choices.includes(String(value)))
      return `--${name}: expected ${option.choices.join(', ')}, got "${String(value)}"`;
  }
  return null;
}

/** Returns only the first sentence of a message from node:util, in lower case. */
function lowerFirst(message: string): string {
  const [first = ''] = message.split(/\. |\n/u);
  return first.charAt(0).toLowerCase() + first.slice(1);
}
