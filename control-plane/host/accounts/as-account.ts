/** Tests file access with the rights of another user. */
import { groupsOf } from './system-users.ts';
import type { Account } from './system-users.ts';

/**
 * Runs `work` with the effective user and groups of an account, then becomes root again. Only root processes may call
 * this.
 */
export function asAccount<T>(account: Account, work: () => T): T {
  const [groups, gid] = [process.getgroups!(), process.getegid!()];
  process.setgroups!(groupsOf(account));
  process.setegid!(account.gid);
  process.seteuid!(account.uid);
  try {
    return work();
  } finally {
    process.seteuid!(0);
    process.setegid!(gid);
    process.setgroups!(groups);
  }
}
