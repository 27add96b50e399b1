/**
 * Has a command of root work as the owner of the data directory. As root it would follow the links that the owner can
 * put there, and leave files that the owner's Weir cannot read.
 */
import { statSync } from 'node:fs';

/** Switches to the owner of the data directory, for good; nothing happens where that is root or there is none. */
export function becomeOwnerOf(dataDir: string): void {
  if (process.geteuid?.() !== 0) return;
  const owner = statSync(dataDir, { throwIfNoEntry: false });
  if (owner === undefined || owner.uid === 0) return;
  process.setgroups!([owner.gid]);
  process.setgid!(owner.gid);
  process.setuid!(owner.uid);
}
