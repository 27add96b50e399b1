/** Users of this machine, from /etc/passwd and /etc/group. */
import { readFileSync } from 'node:fs';

/** A user of the machine. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** All users, in the order of /etc/passwd. */
export function readAccounts(): Account[] {
  const accounts: Account[] = [];
  for (const [name, , uid, gid, , home = '/'] of fieldsOf('/etc/passwd')) {
    if (name === undefined || uid === undefined || gid === undefined) continue;
    accounts.push({ name, uid: Number(uid), gid: Number(gid), home });
  }
  return accounts;
}

/** Group ids of a user: the user's primary group, and groups in /etc/group that list the user. */
export function groupsOf({ name, gid }: Account): number[] {
  const named = fieldsOf('/etc/group').filter(([, , , members = '']) => members.split(',').includes(name));
  return [...new Set([gid, ...named.map(([, , id]) => Number(id))])];
}

function fieldsOf(file: string): string[][] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
}
