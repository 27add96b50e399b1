/**
 * The entry of the process: parses the command line and the configuration, and runs the subcommand. Only `start` loads
 * the parts of the server, so that the other subcommands respond quickly.
 */
import { reasonOf } from '../shared/errors.ts';
import { formatFault } from '../config/config-fault.ts';
import type { ConfigSource } from '../config/load-config.ts';
import type { ConfigResult, LoadedConfig } from '../config/parse-config.ts';
import type { UsableConfig } from '../config/usable-config.ts';
import { parseArguments } from './cli/arguments.ts';
import type { Command } from './cli/arguments.ts';
import { becomeOwnerOf } from './cli/become-owner.ts';
import { checkConfig } from './cli/check-config.ts';
import { completionScript } from './cli/completion.ts';
import type { Shell } from './cli/completion.ts';
import { helpText } from './cli/help.ts';
import { PasswordReader } from './cli/read-password.ts';
import { setPassword } from './cli/set-password.ts';
import { processTerminal as terminal } from './cli/terminal.ts';
import type { StaysRoot } from './node/privileges/drop-root.ts';
import { version } from './host/version.ts';

/** Exit status of a start with an invalid configuration (EX_CONFIG of sysexits.h): restarting does not help. */
const BAD_CONFIG = 78;
/** Prints failures, in the format of `logging.format` once a start has read that key. */
let reportFailure = (line: string): void => terminal.err(line);

/** Runs the command; returns the exit status, or undefined if a server is now running. */
async function main(argv: readonly string[]): Promise<number | undefined> {
  const command = parseArguments(argv);
  switch (command.kind) {
    case 'help':
      process.stdout.write(helpText(command.spec));
      return 0;
    case 'version':
      terminal.out(version);
      return 0;
    case 'mistake':
      terminal.err(`weir: ${command.message}`);
      terminal.err('run "weir --help" for help');
      return 2;
    case 'run':
      return run(command);
  }
}

async function run({
  spec,
  arguments: given,
  options,
}: Command & { kind: 'run' }): Promise<number | undefined> {
  if (spec.name === 'completion') {
    process.stdout.write(completionScript(given[0] as Shell));
    return 0;
  }
  const isFull = options['full'] === true;
  if (spec.isRemote && !isFull) {
    endWithReader();
    const { runCommand } = await import('./cli/commands/run-command.ts');
    const { processScreen } = await import('./cli/output/screen.ts');
    return runCommand({ name: spec.name, arguments: given, options }, processScreen(terminal), process.env);
  }
  const { loadConfig } = await import('../config/load-config.ts');
  const file = typeof options['config'] === 'string' ? options['config'] : undefined;
  const source = { file, env: process.env, cwd: process.cwd() };
  const result = await loadConfig(source);
  if (spec.name === 'start') return startUnlessBad(source, result, options['take-over'] === true);
  if (spec.name === 'ready') return checkReady(result.ok ? result.value : await usable(source));
  if (spec.name === 'check-config' || !result.ok) return checkConfig(result, terminal);
  switch (spec.name) {
    case 'backup':
    case 'restore':
      return moveFully(spec.name, result.value, given[0]);
    case 'upgrade':
      return upgrade(result.value);
    default:
      return changePassword(result.value);
  }
}

async function usable(source: ConfigSource): Promise<UsableConfig> {
  const { loadUsable } = await import('../config/load-config.ts');
  return loadUsable(source);
}

async function startUnlessBad(
  source: ConfigSource,
  result: ConfigResult,
  takesOver: boolean,
): Promise<number | undefined> {
  const { config } = result.ok ? result.value : await usable(source);
  reportFailure = await failuresIn(config.logging.format);
  if (result.ok) return start(result.value, takesOver);
  for (const fault of result.faults) reportFailure(formatFault(fault));
  return BAD_CONFIG;
}

/** Writer of failures: JSON, or text without a time, as in other commands. */
async function failuresIn(format: 'json' | 'text'): Promise<(line: string) => void> {
  const { isJournal, journalPrefix } = await import('./host/log/journal.ts');
  const prefix = isJournal(process.env) ? journalPrefix('error') : '';
  if (format === 'text') return (line) => terminal.err(prefix + line);
  const { logLine } = await import('./host/log/winston-logger.ts');
  return (line) => terminal.err(logLine(format, 'error', line));
}

async function checkReady({ config, explicit }: UsableConfig | LoadedConfig): Promise<number> {
  const { checkReady: ask } = await import('./cli/check-ready.ts');
  const { FALLBACK_DNS_PORT } = await import('./threads/dns-port.ts');
  const { ProxySenders } = await import('../shared/net/proxy-senders.ts');
  const { bind_address: addresses, dns_port: port } = config.server;
  const { proxy_protocol_enabled: isProxied, proxy_protocol_trusted: trusted } = config.server;
  const senders = new ProxySenders(isProxied ? trusted : null);
  const ports = explicit.has('server.dns_port') ? [port] : [port, FALLBACK_DNS_PORT];
  return ask({ addresses, ports, senders }, terminal);
}

async function upgrade({ config }: LoadedConfig): Promise<number> {
  endWithReader();
  const { upgradeRunning } = await import('./cli/upgrade.ts');
  return upgradeRunning(config.server.data_dir, terminal);
}

async function start(loaded: LoadedConfig, takesOver: boolean): Promise<undefined> {
  // Weir keeps answering if the reader of its log disappears, or if the disk of the log is full.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  // `dropRoot` usually replaces a root process here, before it starts a thread or opens a file.
  const staysRoot = process.geteuid?.() === 0 ? await dropped(loaded, takesOver) : undefined;
  const { startWeir } = await import('./node/start.ts');
  await startWeir(loaded, { takesOver, staysRoot });
  return undefined;
}

async function dropped(loaded: LoadedConfig, takesOver: boolean): Promise<StaysRoot | undefined> {
  const { dropRoot } = await import('./node/privileges/drop-root.ts');
  return dropRoot(loaded, takesOver);
}

async function moveFully(
  name: 'backup' | 'restore',
  loaded: LoadedConfig,
  file: string | undefined,
): Promise<number> {
  if (file === undefined || file === '-') {
    terminal.err('weir: --full requires the name of a file');
    return 2;
  }
  const { backUpFully, restoreFully } = await import('./cli/full-commands.ts');
  becomeOwnerOf(loaded.config.server.data_dir);
  return name === 'backup'
    ? backUpFully(loaded, file, version, terminal)
    : restoreFully(loaded, file, terminal);
}

async function changePassword(loaded: LoadedConfig): Promise<number> {
  const { hashPassword } = await import('./web/auth/accounts/password.ts');
  const { storeAdminPassword } = await import('./cli/store-admin-password.ts');
  const reader = new PasswordReader(process.stdin);
  becomeOwnerOf(loaded.config.server.data_dir);
  return setPassword({ loaded, reader, terminal, hash: hashPassword, store: storeAdminPassword });
}

/** Ends a command such as `weir tail | head` when the reader of its output has ended. */
function endWithReader(): void {
  process.stdout.on('error', () => process.exit(0));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // After a failed start, there is nothing to wait for.
  reportFailure(`weir: ${reasonOf(error)}`);
  process.exit(1);
}
