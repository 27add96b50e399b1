/** Reads a secret: from a terminal, where it is typed without echo, or from the first line of standard input. */
import { PasswordReader, PromptAborted } from '../read-password.ts';
import { Misuse } from '../remote/api-connection.ts';
import type { CommandRun } from './command-run.ts';

/** A secret that a command needs. */
export interface WantedSecret {
  readonly prompt: string;
  /** Name of the secret in messages, such as `password`. */
  readonly what: string;
  /** Whether a person has to type the secret twice. */
  readonly mustRepeat: boolean;
}

/** The secret. @throws {Misuse} if no secret was entered, or the two entries differ */
export async function typedSecret(
  { screen }: Pick<CommandRun, 'screen'>,
  { prompt, what, mustRepeat }: WantedSecret,
): Promise<string> {
  const reader = new PasswordReader(process.stdin);
  try {
    if (reader.interactive) screen.err(prompt);
    const secret = await reader.readLine();
    if (!reader.interactive || !mustRepeat) return secret;
    screen.err('repeat:');
    if ((await reader.readLine()) !== secret) throw new Misuse(`the two ${what}s differ`);
    return secret;
  } catch (error) {
    if (error instanceof PromptAborted) throw new Misuse(`no ${what} was given`);
    throw error;
  } finally {
    reader.close();
  }
}
