/** Texts of `weir --help` and `weir <command> --help`. */
import { COMMANDS } from './command-table.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

/** Width of a line in characters. */
const WIDTH = 80;

const END = `  --config FILE   the configuration file; by default $WEIR_CONFIG,
                  ./config/weir.toml, or /etc/weir/weir.toml if it exists
  --help          help for weir or a command
  --version

Commands of the second part contact the server running on the data directory
of the configuration, through its socket weir.sock. Anyone who can open the
socket has administrator rights. With --url they contact any server, with an
API token from --token-file or $WEIR_TOKEN. NODE_EXTRA_CA_CERTS names a
certificate to trust.

WEIR_<SECTION>_<KEY> in the environment overrides a key of the file.
Exit status: 0 done, 1 failed, 2 invalid command line, 3 the server cannot be
reached.
`;

/** The help of a command, or the overview of all commands. */
export function helpText(spec: CommandSpec | undefined): string {
  return spec === undefined ? overview() : helpOf(spec);
}

function overview(): string {
  const shown = COMMANDS.filter(({ verbOf }) => verbOf === undefined);
  const calls = shown.map((spec) => ({ spec, call: callOf(spec) }));
  const column = Math.max(...calls.map(({ call }) => call.length)) + 4;
  const part = (isRemote: boolean): string =>
    calls
      .filter(({ spec }) => spec.isRemote === isRemote)
      .map(({ spec, call }) => hanging(`  ${call}`.padEnd(column), summaryOf(spec)))
      .join('\n');
  return `weir: a DNS server that filters\n\n${part(false)}\n\n${part(true)}\n\n${END}`;
}

/** The summary of a command. For a noun, it includes the verbs, because the overview does not list them separately. */
function summaryOf({ name, summary }: CommandSpec): string {
  const verbs = COMMANDS.filter(({ verbOf }) => verbOf === name).map((verb) => verb.name.split(' ')[1]!);
  return verbs.length === 0 ? summary : `${summary}; more: ${verbs.join(', ')}`;
}

function helpOf(spec: CommandSpec): string {
  const all: readonly OptionSpec[] = [...spec.options, { name: 'help', help: 'this text' }];
  const options = all.map(({ name, value, help }) => ({
    help,
    call: `  --${name}${value === undefined ? '' : ` ${value}`}`,
  }));
  const column = Math.max(...options.map(({ call }) => call.length)) + 2;
  const examples = spec.examples ?? [];
  return [
    `usage: ${callOf(spec)} [options]`,
    '',
    ...hanging('', `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`).split('\n'),
    '',
    ...options.map(({ call, help }) => hanging(call.padEnd(column), help)),
    ...(examples.length === 0 ? [] : ['', ...examples.map((one) => `example: ${one}`)]),
    '',
  ].join('\n');
}

function callOf({ name, arguments: given }: CommandSpec): string {
  return `weir ${name}${given === '' ? '' : ` ${given}`}`;
}

/** A heading with wrapped text next to it. */
function hanging(head: string, text: string): string {
  const lines = [head];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    const isFresh = line.trimEnd() === '' || line === head;
    if (isFresh || line.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = isFresh ? line + word : `${line} ${word}`;
    else lines.push(' '.repeat(head.length) + word);
  }
  return lines.join('\n');
}
