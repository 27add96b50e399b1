/** The passphrase of a backup: from a file, the terminal without echo, or one line of standard input. */
import { readFile } from 'node:fs/promises';
import { reasonOf } from '../../../shared/thrown.ts';
import { PasswordReader, PromptAborted } from '../read-password.ts';
import { Misuse } from '../remote/api-connection.ts';
import { textOf } from './command-run.ts';
import type { CommandRun } from './command-run.ts';

/** As the server demands of new ones. */
const LEAST_LENGTH = 12;

/** A passphrase for a new backup, typed twice. */
export async function newPassphrase(run: CommandRun): Promise<string> {
  const passphrase = await givenPassphrase(run, true);
  if (passphrase.length < LEAST_LENGTH)
    throw new Misuse(
      `the passphrase has ${String(passphrase.length)} characters; use ${String(LEAST_LENGTH)} or more`,
    );
  return passphrase;
}

/** The passphrase of a backup; `isStdinTaken` if the backup itself comes from standard input. */
export async function knownPassphrase(run: CommandRun, isStdinTaken: boolean): Promise<string> {
  if (isStdinTaken && textOf(run, 'passphrase-file') === undefined)
    throw new Misuse('this backup has encrypted secrets: give --passphrase-file');
  return givenPassphrase(run, false);
}

async function givenPassphrase(run: CommandRun, isTwice: boolean): Promise<string> {
  const file = textOf(run, 'passphrase-file');
  if (file === undefined) return typedPassphrase(run, isTwice);
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n[^]*$/, '');
  } catch (error) {
    throw new Misuse(`read ${file}: ${reasonOf(error)}`);
  }
}

async function typedPassphrase({ screen }: CommandRun, isTwice: boolean): Promise<string> {
  const reader = new PasswordReader(process.stdin);
  try {
    if (reader.interactive) screen.err('passphrase of the backup:');
    const passphrase = await reader.readLine();
    if (!reader.interactive || !isTwice) return passphrase;
    screen.err('once more:');
    if ((await reader.readLine()) !== passphrase) throw new Misuse('the two passphrases differ');
    return passphrase;
  } catch (error) {
    if (error instanceof PromptAborted) throw new Misuse('no passphrase was given');
    throw error;
  } finally {
    reader.close();
  }
}
