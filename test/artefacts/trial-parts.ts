/** Helpers of the trials of the artefacts: commands that must succeed, and the files of a build. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const ARTEFACTS = join(ROOT, 'data', 'artefacts');

/**
 * A command for a mount namespace: makes only version 2 of cgroups visible, as systemd and crun need; this machine may
 * use version 1.
 */
export const OWN_CGROUPS = 'umount -R /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup';

/** Output of a command. @throws with the complete output unless it succeeds */
export function run(command: string, ...args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** Output of a command, even if it fails. */
export function look(command: string, ...args: readonly string[]): string {
  return spawnSync(command, args, { encoding: 'utf8' }).stdout.trim();
}

/** Whether a command succeeds and prints this line. */
export function prints(line: string, command: string, ...args: readonly string[]): boolean {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 && stdout.trim() === line;
}

/** The newest build of this kind, and its version. */
export function newest(pattern: RegExp): { readonly file: string; readonly version: string } {
  const builds = readdirSync(ARTEFACTS)
    .map((name) => ({ name, version: pattern.exec(name)?.[1] }))
    .flatMap(({ name, version }) => (version === undefined ? [] : [{ file: join(ARTEFACTS, name), version }]))
    .sort((one, other) => statSync(other.file).mtimeMs - statSync(one.file).mtimeMs);
  if (builds[0] === undefined) throw new Error(`there is no build named ${String(pattern)}`);
  return builds[0];
}
