/** The command line of `weir`: which subcommand, which file. Each subcommand has its own file. */
import { parseArgs } from 'node:util';

const SUBCOMMANDS = ['start', 'check-config', 'set-password'] as const;

/** The names of the subcommands. */
export type Subcommand = (typeof SUBCOMMANDS)[number];

/** What the command line asks for. */
export type Command =
  | { readonly kind: Subcommand; readonly file: string | undefined }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'mistake'; readonly message: string };

/** What `weir --help` prints. */
export const HELP = `weir: a DNS server that filters

  weir start         answers DNS, and serves the dashboard and the API
  weir check-config  tells what is wrong with the configuration, one line each
  weir set-password  sets the password of the administrator; reads it from the
                     terminal, or one line of standard input

  --config FILE      the configuration file; else $WEIR_CONFIG, else
                     ./config/weir.toml, else /etc/weir/weir.toml, else defaults
  --help, --version

WEIR_<SECTION>_<KEY> in the environment overrides a key of the file.
Exit status: 0 done, 1 failed, 2 the command line makes no sense.
`;

/** Reads the arguments that follow the program's name. */
export function parseArguments(argv: readonly string[]): Command {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        config: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { kind: 'mistake', message: lowerFirst(error.message) };
  }
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  if (values.version === true) return { kind: 'version' };
  const [name, ...rest] = positionals;
  const subcommand = SUBCOMMANDS.find((one) => one === name);
  if (name === undefined) return { kind: 'mistake', message: `name a subcommand: ${SUBCOMMANDS.join(', ')}` };
  if (subcommand === undefined) {
    return { kind: 'mistake', message: `no subcommand "${name}"; there are ${SUBCOMMANDS.join(', ')}` };
  }
  if (rest.length > 0) return { kind: 'mistake', message: `unexpected argument "${rest[0] ?? ''}"` };
  if (values.config === '') return { kind: 'mistake', message: '--config needs the name of a file' };
  return { kind: subcommand, file: values.config };
}

/** Uses only the first sentence of node:util's messages, in lower case. */
function lowerFirst(message: string): string {
  const [first = ''] = message.split(/\. |\n/u);
  return first.charAt(0).toLowerCase() + first.slice(1);
}
