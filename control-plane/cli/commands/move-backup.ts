/** `weir backup` and `weir restore`: writes all settings to a file, and restores them from such a file. */
import type { AnswerOf, CallOf } from '../../../shared/api/client/typed-client.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import { printable, printableJson } from '../output/printable.ts';
import { formatCount } from '../output/quantities.ts';
import { toned } from '../output/screen.ts';
import type { Screen } from '../output/screen.ts';
import { printTable } from '../output/text-table.ts';
import type { CommandRun } from './command-run.ts';
import { readGivenJson } from './given-file.ts';
import { readFile } from 'node:fs/promises';
import { Misuse } from '../remote/api-connection.ts';
import { textOption } from './command-run.ts';
import { typedSecret } from './typed-secret.ts';

type Restored = AnswerOf<'POST /restore'>;
type Names = Restored['changes'][number]['created'];

/** Reasons why an object is not restored, as text for users. */
const REASONS: Readonly<Record<Restored['left_out'][number]['reason'], string>> = {
  key_not_in_backup: 'the backup does not contain its secret',
  is_administrator: 'the administrator of this server has the same name',
  over: 'the grant has expired',
  client_not_known: 'no client on this server has this address',
};
/** Maximum number of names to show of each kind. */
const SHOWN_NAMES = 5;

/** Writes a backup to a file that no other user can read, or prints it. */
export async function writeBackup(run: CommandRun): Promise<0> {
  const {
    client,
    screen,
    isJson,
    options,
    arguments: [file],
  } = run;
  const secrets = options['secrets'] === true;
  const backup = secrets
    ? await client.call('POST /backup', { body: { passphrase: await newPassphrase(run) } })
    : await client.call('GET /backup');
  const text = `${printableJson(backup, 2)}\n`;
  if (file === undefined || file === '-') {
    screen.out(text.trimEnd());
    return 0;
  }
  await replaceFile(file, text);
  const size = Buffer.byteLength(text);
  if (isJson) screen.out(printableJson({ file, bytes: size, has_secrets: secrets }, 2));
  else
    screen.out(
      `${printable(file)}: ${formatCount(size)} bytes, ${secrets ? 'secrets encrypted' : 'without secrets'}`,
    );
  return 0;
}

async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await writeDurably(file, Buffer.from(text));
  } catch (error) {
    throw new Error(`could not write ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Restores a backup and prints what changed. */
export async function restoreFile(run: CommandRun): Promise<0> {
  const {
    client,
    screen,
    isJson,
    options,
    arguments: [file],
  } = run;
  // Not validated here: the server does so, and its error lists each invalid field.
  const backup = await readGivenJson(file!);
  const isEncrypted = typeof backup === 'object' && backup !== null && 'secrets' in backup;
  const body = (
    isEncrypted ? { ...backup, passphrase: await knownPassphrase(run, file === '-') } : backup
  ) as CallOf<'POST /restore'>['body'];
  const restored = await client.call('POST /restore', {
    query: { dry_run: options['dry-run'] === true },
    body,
  });
  if (isJson) screen.out(printableJson(restored, 2));
  else {
    printChanges(screen, restored);
    for (const { kind, name, reason } of restored.left_out)
      screen.out(printable(`not restored: ${kind.replaceAll('_', ' ')} ${name}: ${REASONS[reason]}`));
  }
  return 0;
}

function printChanges(screen: Screen, restored: Restored): void {
  const { changes, dry_run: isDryRun, left_out: leftOut, revision } = restored;
  if (changes.length === 0)
    return screen.out(
      leftOut.length === 0 ? 'everything is already as in the backup' : 'there is nothing to change',
    );
  const right = { side: 'right' } as const;
  printTable(
    screen,
    [
      { title: 'KIND' },
      { title: 'NEW', ...right },
      { title: 'CHANGED', ...right },
      { title: 'REMOVED', ...right },
      { title: 'NAMES' },
    ],
    changes.map(({ kind, created, changed, removed }) => [
      kind.replaceAll('_', ' '),
      created.count,
      changed.count,
      removed.count,
      namesOf([created, changed, removed]),
    ]),
  );
  screen.out('');
  if (isDryRun) screen.out(toned(screen, 'head', 'nothing was changed: this was a dry run'));
  else
    screen.out(revision === null ? 'no revision was created' : `revision ${revision}; roll back to undo it`);
}

function namesOf(all: readonly Names[]): string {
  const names = all.flatMap((one) => one.names);
  const count = all.reduce((sum, one) => sum + one.count, 0);
  const more = count > SHOWN_NAMES ? ` and ${count - SHOWN_NAMES} more` : '';
  return names.slice(0, SHOWN_NAMES).join(', ') + more;
}

/** Minimum length, the same as on the server. */
const MIN_LENGTH = 12;

/** The passphrase for a new backup, which the user must type twice. */
export async function newPassphrase(run: CommandRun): Promise<string> {
  const passphrase = await givenPassphrase(run, true);
  if (passphrase.length < MIN_LENGTH)
    throw new Misuse(
      `the passphrase has ${String(passphrase.length)} characters; use ${String(MIN_LENGTH)} or more`,
    );
  return passphrase;
}

/** The passphrase of a backup; `isStdinTaken`: the backup itself is read from standard input. */
export async function knownPassphrase(run: CommandRun, isStdinTaken: boolean): Promise<string> {
  if (isStdinTaken && textOption(run, 'passphrase-file') === undefined)
    throw new Misuse('this backup has encrypted secrets: use --passphrase-file');
  return givenPassphrase(run, false);
}

async function givenPassphrase(run: CommandRun, mustRepeat: boolean): Promise<string> {
  const file = textOption(run, 'passphrase-file');
  if (file === undefined)
    return typedSecret(run, { prompt: 'passphrase of the backup:', what: 'passphrase', mustRepeat });
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n[^]*$/, '');
  } catch (error) {
    throw new Misuse(`could not read ${file}: ${reasonOf(error)}`);
  }
}
