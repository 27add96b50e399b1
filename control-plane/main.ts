/**
 * The entry of the process: reads the command line and the configuration, and runs the subcommand. Only `start` loads
 * the parts of the server, so that the others respond at once.
 */
import { reasonOf } from '../shared/thrown.ts';
import type { LoadedConfig } from '../config/parse-config.ts';
import { HELP, parseArguments } from './cli/arguments.ts';
import type { Subcommand } from './cli/arguments.ts';
import { checkConfig } from './cli/check-config.ts';
import { PasswordReader } from './cli/read-password.ts';
import { setPassword } from './cli/set-password.ts';
import { processTerminal as terminal } from './cli/terminal.ts';
import { version } from './version.ts';

/** Runs the command; returns the exit status, or undefined if a server now runs. */
async function main(argv: readonly string[]): Promise<number | undefined> {
  const command = parseArguments(argv);
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'version':
      terminal.out(version);
      return 0;
    case 'mistake':
      terminal.err(`weir: ${command.message}`);
      terminal.err('"weir --help" tells more');
      return 2;
    default: {
      const { loadConfig } = await import('../config/load-config.ts');
      const result = await loadConfig({ file: command.file, env: process.env, cwd: process.cwd() });
      if (command.kind === 'check-config' || !result.ok) return checkConfig(result, terminal);
      return runSubcommand(command.kind, result.value);
    }
  }
}

async function runSubcommand(
  kind: Exclude<Subcommand, 'check-config'>,
  loaded: LoadedConfig,
): Promise<number | undefined> {
  if (kind === 'start') {
    // A reader of the log that goes away, or a full disk under it, is no reason to stop answering.
    for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
    const { startWeir } = await import('./start.ts');
    await startWeir(loaded);
    return undefined;
  }
  const { hashPassword } = await import('./auth/accounts/password.ts');
  const { storeAdminPassword } = await import('./cli/store-admin-password.ts');
  const reader = new PasswordReader(process.stdin);
  return setPassword({ loaded, reader, terminal, hash: hashPassword, store: storeAdminPassword });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // A failed start has nothing to wait for.
  terminal.err(`weir: ${reasonOf(error)}`);
  process.exit(1);
}
