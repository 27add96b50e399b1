/**
 * Has a command of root work as the owner of the data directory. As root it would follow the links that the owner can
 * put there, and leave files that the owner's Weir cannot read.
 */
import { lstatSync, statSync } from 'node:fs';

/** Switches to the owner of the data directory, for good; nothing happens where that is root or there is none. */
export function becomeOwnerOf(dataDir: string): void {
  if (process.geteuid?.() !== 0) return;
  // Who owns a link at its place chooses where it leads, even to a folder of root.
  const owners = [lstatSync, statSync].map((stateOf) => stateOf(dataDir, { throwIfNoEntry: false }));
  const owner = owners.find((state) => state !== undefined && state.uid !== 0);
  if (owner === undefined) return;
  process.setgroups!([owner.gid]);
  process.setgid!(owner.gid);
  process.setuid!(owner.uid);
}
