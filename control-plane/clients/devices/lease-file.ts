/**
 * Parses lease files of the DHCP servers dnsmasq (one lease per line) and ISC dhcpd (blocks; the last block of an
 * address applies). The content shows which format it is. Pure. Never throws, because a file that is being written may
 * end anywhere.
 */
import { addressFromText, addressToText } from '../../../shared/net/ip.ts';
import { canonicalMac } from '../../../shared/net/mac.ts';

/** A lease of an address. */
export interface Lease {
  readonly address: string;
  /** Null if the server identifies the client in another way. */
  readonly mac: string | null;
  readonly hostname: string;
}

const MAX_HOSTNAME = 253;
/** Letters, digits, hyphens, underscores and dots, which are safe for logs and pages. */
const HOSTNAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i;

/** Leases with a host name that have not expired at `nowMs`. */
export function readLeases(text: string, nowMs: number): Lease[] {
  return /^\s*(lease|ia-na|ia-ta|ia-pd)\s/m.test(text) ? readDhcpd(text, nowMs) : readDnsmasq(text, nowMs);
}

/** Reads lines of the form `expiry mac address hostname client-id`. IPv6 leases have an IAID instead of the MAC. */
function readDnsmasq(text: string, nowMs: number): Lease[] {
  const leases: Lease[] = [];
  for (const line of text.split('\n')) {
    const [expiry = '', identity = '', address = '', name = ''] = line.trim().split(/\s+/);
    if (!/^\d{1,12}$/.test(expiry)) continue;
    // 0 means a lease that does not expire.
    if (expiry !== '0' && Number(expiry) * 1000 <= nowMs) continue;
    // For hardware other than Ethernet, the type precedes the address.
    const lease = makeLease(address, canonicalMac(identity.replace(/^[0-9a-f]{2}-(?=.*:)/i, '')), name);
    if (lease !== null) leases.push(lease);
  }
  return leases;
}

/** Reads the format of dhcpd.leases(5). */
function readDhcpd(text: string, nowMs: number): Lease[] {
  const byAddress = new Map<string, Lease | null>();
  for (const [, address = '', body = ''] of text.matchAll(/^\s*(?:lease|iaaddr)\s+(\S+)\s*\{([^}]*)\}/gm)) {
    const state = /^\s*binding state (\w+);/m.exec(body)?.[1] ?? 'active';
    const isOver = state !== 'active' || hasEnded(/^\s*ends ([^;]*);/m.exec(body)?.[1] ?? 'never', nowMs);
    const hardware = /^\s*hardware ethernet ([^;]*);/m.exec(body)?.[1] ?? '';
    const name =
      /^\s*client-hostname "([^"]*)";/m.exec(body)?.[1] ??
      /^\s*set ddns-fwd-name = "([^"]*)";/m.exec(body)?.[1] ??
      '';
    byAddress.set(address, isOver ? null : makeLease(address, canonicalMac(hardware.trim()), name));
  }
  return [...byAddress.values()].filter((lease) => lease !== null);
}

/** Whether a lease has expired. `ends` is `never`, `4 2026/11/21 06:30:00` in UTC, or `epoch 1795242600`. */
function hasEnded(ends: string, nowMs: number): boolean {
  const epoch = /^epoch (\d{1,12})/.exec(ends);
  if (epoch !== null) return Number(epoch[1]) * 1000 <= nowMs;
  const date = /^\d (\d{4})\/(\d\d)\/(\d\d) (\d\d):(\d\d):(\d\d)/.exec(ends);
  if (date === null) return false;
  const [year, month, day, hour, minute, second] = date.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return Date.UTC(year, month - 1, day, hour, minute, second) <= nowMs;
}

function makeLease(addressText: string, mac: string | null, name: string): Lease | null {
  const address = addressFromText(addressText);
  const hostname = name.replace(/\.$/, '').toLowerCase();
  if (address === null || hostname.length > MAX_HOSTNAME || !HOSTNAME.test(hostname)) return null;
  return { address: addressToText(address), mac, hostname };
}
