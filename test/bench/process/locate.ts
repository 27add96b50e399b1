// Finds installed programs, on PATH and in the system directories that an ordinary user's PATH does not have.
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin', '/usr/local/sbin'];

/** The full path of a program, or undefined if it is not installed. */
export function locate(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // The file is missing or not accessible; the next directory may have the program.
  }
}

/** The first version number in the program's output, or '?'. */
export function versionOf(binary: string, args: string[]): string {
  try {
    const script = '"$0" "$@" 2>&1';
    const text = execFileSync('/bin/sh', ['-c', script, binary, ...args], {
      encoding: 'utf8',
      timeout: 10_000,
    });
    return /\d+\.\d+(\.\d+)*/.exec(text)?.[0] ?? '?';
  } catch {
    return '?'; // Some programs exit with a failure after they have printed their version.
  }
}
