/**
 * Switches permanently from root to an ordinary user with the capability CAP_NET_BIND_SERVICE, for ports below 1024
 * (capabilities(7)). Only the calling thread is limited, so a program must be executed immediately afterwards.
 */
import { readFileSync } from 'node:fs';
import { layoutMismatch, loadLibc } from '../../../shared/libc.ts';
import type { Libc, Signatures } from '../../../shared/libc.ts';
import { groupsOf } from '../../host/accounts/system-users.ts';
import type { Account } from '../../host/accounts/system-users.ts';

/** Functions of libc; pointers are addresses as BigInt. */
export interface PrivilegeCalls extends Libc {
  prctl(option: number, second: number, third: number, fourth: number, fifth: number): number;
  capset(header: bigint, data: bigint): number;
  setrlimit(resource: number, limits: bigint): number;
  euidaccess(path: string, mode: number): number;
}

const SIGNATURES: Signatures<PrivilegeCalls> = {
  prctl: ['int', ['int', 'ulong', 'ulong', 'ulong', 'ulong']],
  capset: ['int', ['void *', 'void *']],
  setrlimit: ['int', ['int', 'void *']],
  euidaccess: ['int', ['str', 'int']],
};

/** Numbers of <linux/capability.h>. */
const Capability = { SETGID: 6, SETUID: 7, SETPCAP: 8, NET_BIND_SERVICE: 10 } as const;
const NEEDED = ['SETGID', 'SETUID', 'SETPCAP', 'NET_BIND_SERVICE'] as const;
/** _LINUX_CAPABILITY_VERSION_3: two words per set. */
const CAPABILITY_VERSION = 0x20080522;
/** An upper bound for the number of capabilities of any kernel. */
const MAX_CAPABILITIES = 64;
/** Options of prctl(2). */
const Prctl = {
  SET_KEEPCAPS: 8,
  CAPBSET_READ: 23,
  CAPBSET_DROP: 24,
  SET_NO_NEW_PRIVS: 38,
  CAP_AMBIENT: 47,
  CAP_AMBIENT_RAISE: 2,
} as const;
/** Resources of setrlimit(2). */
const Resource = { CORE: 4, NICE: 13 } as const;
/** RLIMIT_NICE of niceness 0, which an upgrade needs to give new threads the priority of those that they replace. */
const NICENESS_ZERO = 20;

/** Loads the calls; returns the reason if they are unavailable. */
export function loadPrivilegeCalls(): { calls: PrivilegeCalls } | { reason: string } {
  const reason = layoutMismatch();
  return reason === undefined ? loadLibc<PrivilegeCalls>(SIGNATURES) : { reason };
}

/** Names of missing capabilities that are required to switch users. Root in a container may lack some. */
export function missingCapabilities(status = readFileSync('/proc/self/status', 'utf8')): string[] {
  const held = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return NEEDED.filter((name) => ((held >> BigInt(Capability[name])) & 1n) === 0n).map(
    (name) => `CAP_${name}`,
  );
}

/**
 * Switches to the account permanently. Throws if a step fails; the process is then in an intermediate state and must
 * end. Also disables core files, and allows threads to return to niceness 0.
 */
export function becomeAccount(calls: PrivilegeCalls, account: Account): void {
  const check = (step: string, result: number): void => {
    if (result !== 0)
      throw new Error(`could not switch to user ${account.name}: ${step}: errno ${calls.errno()}`);
  };
  const prctl = (step: keyof typeof Prctl, second: number, third = 0): void =>
    check(step, calls.prctl(Prctl[step], second, third, 0, 0));
  limit(calls, Resource.CORE, 0);
  limit(calls, Resource.NICE, NICENESS_ZERO);
  for (let each = 0; each < MAX_CAPABILITIES; each++) {
    if (calls.prctl(Prctl.CAPBSET_READ, each, 0, 0, 0) < 0) break;
    if (each !== Capability.NET_BIND_SERVICE) prctl('CAPBSET_DROP', each);
  }
  prctl('SET_KEEPCAPS', 1);
  process.setgroups!(groupsOf(account));
  process.setgid!(account.gid);
  process.setuid!(account.uid);
  const kept = 1 << Capability.NET_BIND_SERVICE;
  const header = Uint32Array.of(CAPABILITY_VERSION, 0);
  // Effective, permitted and inheritable sets: first for the lower 32 capabilities, then for the higher ones.
  const sets = Uint32Array.of(kept, kept, kept, 0, 0, 0);
  check('capset', calls.capset(calls.address(header), calls.address(sets)));
  prctl('CAP_AMBIENT', Prctl.CAP_AMBIENT_RAISE, Capability.NET_BIND_SERVICE);
  prctl('SET_NO_NEW_PRIVS', 1);
}

/** Sets a limit if this is permitted. It may not be for root in a container, and Weir also works without the limit. */
function limit(calls: PrivilegeCalls, resource: number, value: number): void {
  const limits = BigUint64Array.of(BigInt(value), BigInt(value));
  calls.setrlimit(resource, calls.address(limits));
}
