/**
 * Changes a command that root runs to the user who owns the data directory. A root process would follow symbolic links
 * that the owner can create there, and leave files that the owner's Weir cannot read.
 */
import { lstatSync, statSync } from 'node:fs';

/**
 * Permanently changes to the owner of the data directory; does nothing if the owner is root or there is no directory.
 */
export function becomeOwnerOf(dataDir: string): void {
  if (process.geteuid?.() !== 0) return;
  // The owner of a symbolic link chooses its target, which may be a folder of root.
  const owners = [lstatSync, statSync].map((stateOf) => stateOf(dataDir, { throwIfNoEntry: false }));
  const owner = owners.find((state) => state !== undefined && state.uid !== 0);
  if (owner === undefined) return;
  process.setgroups!([owner.gid]);
  process.setgid!(owner.gid);
  process.setuid!(owner.uid);
}
