/** Finds the program that listens on a port of this machine, from proc(5); Linux only. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { linesOf, readText } from '../../host/machine-memory.ts';

/** The program; null = not visible to this user. */
export interface PortHolder {
  readonly program: string | null;
  readonly pid: number | null;
  /** Full name of the systemd unit of the program; null = none. */
  readonly unit: string | null;
}

/** An unknown program. */
export const UNKNOWN_HOLDER: PortHolder = { program: null, pid: null, unit: null };

const TABLES = ['udp', 'udp6', 'tcp', 'tcp6'] as const;
const TCP_LISTEN = '0A';
/** Indexes of columns in the tables of proc(5). */
const LOCAL = 1;
const STATE = 3;
const UID = 7;
const INODE = 9;

/**
 * DNS servers by the names of their processes. These names are used because only the same user and root can see which
 * process owns a socket.
 */
const DNS_SERVERS: ReadonlySet<string> = new Set([
  ...[
    'systemd-resolve',
    'dnsmasq',
    'named',
    'unbound',
    'pihole-FTL',
    'AdGuardHome',
    'kresd',
    'knot-resolver',
  ],
  ...[
    'connmand',
    'pdns_recursor',
    'coredns',
    'blocky',
    'dnscrypt-proxy',
    'stubby',
    'dnsdist',
    'dotnet',
    'weir',
  ],
]);

/** A listening socket. */
interface Listening {
  readonly inode: string;
  readonly uid: number;
}

/** The process that uses the port over UDP or TCP; null if it is free. */
export function holderOfPort(port: number, proc = '/proc'): PortHolder | null {
  const sockets = TABLES.flatMap((table) => listeningOn(port, table, linesOf(`${proc}/net/${table}`)));
  if (sockets.length === 0) return null;
  const processes = runningProcesses(proc);
  const inodes = new Set(sockets.map(({ inode }) => `socket:[${inode}]`));
  const uids = new Set(sockets.map(({ uid }) => uid));
  const seen = processes.find(({ pid }) => hasSocket(`${proc}/${pid}/fd`, inodes));
  const likely = processes.filter(({ name, uid }) => uids.has(uid) && DNS_SERVERS.has(name));
  const holder = seen ?? (likely.length === 1 ? likely[0] : undefined);
  if (holder === undefined) return UNKNOWN_HOLDER;
  return { program: holder.name, pid: holder.pid, unit: unitOf(`${proc}/${holder.pid}/cgroup`) };
}

/** The unit in a line such as `0::/system.slice/dnsmasq.service` (cgroups(7)). */
function unitOf(path: string): string | null {
  return /\/([\w@.\\-]+\.service)(?:\/|$)/m.exec(readText(path))?.[1] ?? null;
}

function listeningOn(port: number, table: string, lines: readonly (readonly string[])[]): Listening[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return lines.flatMap((fields) => {
    const isOurs = fields[LOCAL]?.endsWith(suffix) === true;
    const isListening = table.startsWith('udp') || fields[STATE] === TCP_LISTEN;
    return isOurs && isListening ? [{ inode: fields[INODE]!, uid: Number(fields[UID]) }] : [];
  });
}

interface RunningProcess {
  readonly pid: number;
  readonly name: string;
  readonly uid: number;
}

function runningProcesses(proc: string): RunningProcess[] {
  return readdirSync(proc).flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const name = readFileSync(`${proc}/${entry}/comm`, 'utf8').trim();
      return [{ pid: Number(entry), name, uid: statSync(`${proc}/${entry}`).uid }];
    } catch {
      // The process has ended.
      return [];
    }
  });
}

function hasSocket(folder: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(folder).some((fd) => inodes.has(readlinkSync(`${folder}/${fd}`)));
  } catch {
    // The process belongs to another user, or has ended.
    return false;
  }
}
