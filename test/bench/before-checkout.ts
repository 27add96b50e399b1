// The Weir to compare with: a folder, or a commit of this repository, which is checked out and installed once in the
// cache folder.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MEASUREMENTS = join('docs', 'measurements.md');
const CACHE = join('node_modules', '.cache', 'weir-before');
const COMMIT_LINE = /^Commit: `([0-9a-f]{7,40})`/m;

/**
 * The folder of the Weir to compare with. `wanted`: a folder, a commit, or `measured` = the commit of
 * docs/measurements.md.
 */
export function beforeCheckout(root: string, wanted: string): string {
  if (existsSync(join(wanted, 'package.json'))) return wanted;
  const commit = git(root, 'rev-parse', '--verify', '--end-of-options', `${named(root, wanted)}^{commit}`);
  const folder = join(root, CACHE, commit.slice(0, 12));
  if (existsSync(join(folder, 'node_modules'))) return folder;
  console.log(`${wanted} is ${commit.slice(0, 12)}: it is checked out and installed, once`);
  if (!existsSync(folder)) git(root, 'worktree', 'add', '--detach', folder, commit);
  execFileSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return folder;
}

function named(root: string, wanted: string): string {
  if (wanted !== 'measured') return wanted;
  const commit = COMMIT_LINE.exec(readFileSync(join(root, MEASUREMENTS), 'utf8'))?.[1];
  if (commit === undefined) throw new Error(`read ${MEASUREMENTS}: it names no commit`);
  return commit;
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
}
