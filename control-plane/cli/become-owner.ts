/**
 * If root runs a command, switches to the user who owns the data directory. A process of root would follow symbolic
 * links that the owner can create there, and would create files that the owner's Weir server cannot read.
 */
import { lstatSync, statSync } from 'node:fs';

/**
 * Switches permanently to the owner of the data directory; does nothing if the owner is root or the directory does not
 * exist.
 */
export function becomeOwnerOf(dataDir: string): void {
  if (process.geteuid?.() !== 0) return;
  // Both owners are checked: the owner of a symbolic link chooses its target, which may be a directory of root.
  const owners = [lstatSync, statSync].map((stateOf) => stateOf(dataDir, { throwIfNoEntry: false }));
  const owner = owners.find((state) => state !== undefined && state.uid !== 0);
  if (owner === undefined) return;
  process.setgroups!([owner.gid]);
  process.setgid!(owner.gid);
  process.setuid!(owner.uid);
}
