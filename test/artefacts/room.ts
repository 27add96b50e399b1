/** What the trials of the artefacts share: commands that must succeed, and the files that a build left. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
/** Where builds are. */
export const ARTEFACTS = join(ROOT, 'data', 'artefacts');

/** Output of a command. @throws with all that it said unless it succeeds */
export function run(command: string, ...args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** The version that builds of HEAD have. */
export const version = run('deploy/build/version').trim();

/** The file of a build of HEAD, which is made unless it is there. */
export function built(name: string, build: string, ...args: readonly string[]): string {
  if (!readdirSync(ARTEFACTS).includes(name)) run(`deploy/build/${build}`, ...args);
  return join(ARTEFACTS, name);
}
