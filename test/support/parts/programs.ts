/**
 * Paths of installed programs that tests run. A suite declares their packages in its opening comment: `@needs nsd
 * unbound`.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Names of the browser in different distributions. */
export const CHROMIUM = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
] as const;

/** Debian's Python, which sees Debian's packages; another Python may come first on PATH. */
export const PYTHON = '/usr/bin/python3';

/** Directories with servers in Debian, which are not on the PATH of an ordinary user. */
const FOLDERS_OF_SERVERS = ['/usr/sbin', '/usr/local/sbin'];

/** Path of a program, searched on PATH and in the directories of servers; null if it is not installed. */
export function findProgram(name: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...FOLDERS_OF_SERVERS]) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The program is not in this directory.
    }
  }
  return null;
}

/** Path of a required program, by the first of its names that is found. @throws if it is not installed */
export function requireProgram(...names: readonly string[]): string {
  for (const name of names) {
    const path = findProgram(name);
    if (path !== null) return path;
  }
  throw new Error(`${names[0]!} is not installed`);
}
