/** Scripts that let shells complete the commands and options of `weir`. */
import { COMMANDS } from './command-table.ts';

/** Shells with a completion script. */
export type Shell = 'bash' | 'zsh' | 'fish';

/** Words and options that may follow each sequence of words. */
const FOLLOWERS: ReadonlyMap<string, readonly string[]> = followers();

function followers(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (after: string, ...words: readonly string[]): void => {
    found.set(after, [...new Set([...(found.get(after) ?? []), ...words])]);
  };
  for (const spec of COMMANDS) {
    const [first = '', second] = spec.name.split(' ');
    add('', first);
    if (second !== undefined) add(first, second);
    add(spec.name, ...(spec.choices ?? []), ...spec.options.map(({ name }) => `--${name}`), '--help');
  }
  add('', '--help', '--version');
  return found;
}

/** The script for a shell. */
export function completionScript(shell: Shell): string {
  switch (shell) {
    case 'bash':
      return BASH;
    case 'zsh':
      return `#compdef weir\nautoload -U +X bashcompinit && bashcompinit\n${BASH}`;
    case 'fish':
      return fish();
  }
}

const OPTIONS = COMMANDS.flatMap(({ options }) => options);
/** Shell code for the allowed values of options. */
const CHOICES = [...new Map(OPTIONS.map(({ name, choices }) => [name, choices]))]
  .flatMap(([name, choices]) =>
    choices === undefined
      ? []
      : [`    --${name}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`],
  )
  .join('\n');
/** Names of the commands whose arguments are files, quoted for a shell. */
const OF_FILES = COMMANDS.filter(({ takesFiles }) => takesFiles === true)
  .map(({ name }) => `'${name}'`)
  .join('|');

const CASES = [...FOLLOWERS]
  .map(([after, words]) => `    '${after}') words='${words.join(' ')}' ;;`)
  .join('\n');

const BASH = `_weir() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words= said= word
  case "$before" in
    --config|--token-file|--list) COMPREPLY=($(compgen -f -- "$current")); return ;;
${CHOICES}
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    case "\${said:+$said }$word" in
${[...FOLLOWERS.keys()]
  .filter((name) => name !== '')
  .map((name) => `      '${name}') said='${name}' ;;`)
  .join('\n')}
    esac
  done
  case "$said" in
${CASES}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$said" in
    ${OF_FILES}) COMPREPLY+=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _weir weir
`;

function fish(): string {
  const lines = COMMANDS.flatMap((spec) => {
    const [first = '', second] = spec.name.split(' ');
    const within = `__fish_seen_subcommand_from ${first}`;
    return [
      second === undefined
        ? `complete -c weir -f -n __fish_use_subcommand -a ${first} -d ${quote(spec.summary)}`
        : `complete -c weir -f -n '${within}' -a ${second} -d ${quote(spec.summary)}`,
      ...(spec.choices ?? []).map((choice) => `complete -c weir -f -n '${within}' -a ${choice}`),
      ...spec.options.map(
        ({ name, value, help, choices }) =>
          `complete -c weir -n '${within}' -l ${name}${value === undefined ? '' : ' -r'}${choices === undefined ? '' : ` -f -a '${choices.join(' ')}'`} -d ${quote(help)}`,
      ),
    ];
  });
  return [...new Set(lines), ''].join('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "\\'")}'`;
}
