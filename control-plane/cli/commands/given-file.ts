/** Reads files that users give on the command line; `-` means standard input. */
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { reasonOf } from '../../../shared/errors.ts';
import { Misuse } from '../remote/api-connection.ts';

/** The bytes of a file; throws Misuse if it cannot be read. */
export async function readGiven(file: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(file === '-' ? await buffer(process.stdin) : await readFile(file));
  } catch (error) {
    throw new Misuse(`could not read ${file}: ${reasonOf(error)}`);
  }
}

/** The parsed content of a JSON file. */
export async function readGivenJson(file: string): Promise<unknown> {
  const text = Buffer.from(await readGiven(file)).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    throw new Misuse(`${file} is not JSON`);
  }
}
