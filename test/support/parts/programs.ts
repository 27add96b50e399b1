/** The programs of this machine that tests run. A suite names their packages in its opening comment: `@needs nsd unbound`. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Names of the browser, by distribution. */
export const CHROMIUM = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
] as const;

/** Debian's Python, which has the packages of Debian; another one may stand before it on PATH. */
export const PYTHON = '/usr/bin/python3';

/** Where Debian keeps servers, which are not on the PATH of an ordinary user. */
const FOLDERS_OF_SERVERS = ['/usr/sbin', '/usr/local/sbin'];

/** Path of a program, looked up on PATH and in the folders of servers; null if it is not installed. */
export function findProgram(name: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...FOLDERS_OF_SERVERS]) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here.
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
