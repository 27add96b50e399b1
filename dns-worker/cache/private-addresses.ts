/**
 * Finds addresses in an answer that are valid only on this machine, in its network or in its provider's network. A
 * public name with such an address may be an attempt to reach hosts behind a firewall through a browser (DNS
 * rebinding). Reads answers that `response-reader.ts` has normalised.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { Record, readU16, readU32, skipName } from '../../shared/dns/wire.ts';
import { AddressHint, nextAddressHint, SVC_PARAM_HEAD } from './chain-names.ts';
import { embeddedIpv4, NO_PREFIXES, type Nat64Prefix } from './nat64-prefix.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';

const IPV4_SIZE = 4;
const IPV6_SIZE = 16;
/** First two bytes of 6to4 addresses (2002::/16). */
const SIX_TO_FOUR = 0x2002;

/**
 * Whether an address record in the answer section, or an address hint of an SVCB or HTTPS record, is private. An
 * address behind a known NAT64 prefix is checked as the IPv4 address that it contains.
 */
export function hasPrivateAddress(
  { body, answerCount }: Pick<CacheableAnswer, 'body' | 'answerCount'>,
  prefixes: readonly Nat64Prefix[] = NO_PREFIXES,
): boolean {
  let at = 0;
  for (let left = answerCount; left > 0; left--) {
    const fields = skipName(body, at, body.length);
    if (fields < 0 || fields + Record.RDATA > body.length) return false;
    const rdata = fields + Record.RDATA;
    at = rdata + readU16(body, fields + Record.RDLENGTH);
    if (at > body.length) return false;
    if (isPrivateRecord(body, readU16(body, fields + Record.TYPE), rdata, at, prefixes)) return true;
  }
  return false;
}

function isPrivateRecord(
  bytes: Uint8Array,
  type: number,
  rdata: number,
  end: number,
  prefixes: readonly Nat64Prefix[],
): boolean {
  if (type === RRType.A) return anyPrivate(bytes, rdata, end, IPV4_SIZE, prefixes);
  if (type === RRType.AAAA) return anyPrivate(bytes, rdata, end, IPV6_SIZE, prefixes);
  if (type !== RRType.SVCB && type !== RRType.HTTPS) return false;
  for (let hint = nextAddressHint(bytes, rdata, end, 0); hint > 0;) {
    const size = readU16(bytes, hint) === AddressHint.IPV4 ? IPV4_SIZE : IPV6_SIZE;
    const value = hint + SVC_PARAM_HEAD;
    if (anyPrivate(bytes, value, value + readU16(bytes, hint + 2), size, prefixes)) return true;
    hint = nextAddressHint(bytes, rdata, end, hint);
  }
  return false;
}

function anyPrivate(
  bytes: Uint8Array,
  from: number,
  end: number,
  size: number,
  prefixes: readonly Nat64Prefix[],
): boolean {
  for (let at = from; at + size <= end; at += size)
    if (size === IPV4_SIZE ? isPrivateIpv4(readU32(bytes, at)) : isPrivateIpv6(bytes, at, prefixes))
      return true;
  return false;
}

/**
 * 0/8, 10/8, 100.64/10, 127/8, 169.254/16, 172.16/12, 192.168/16 and multicast (RFC 1122, RFC 1918, RFC 6598, RFC 3927,
 * RFC 5771).
 */
function isPrivateIpv4(ipv4: number): boolean {
  const first = ipv4 >>> 24;
  const second = (ipv4 >>> 16) & 0xff;
  if (first === 0 || first === 10 || first === 127) return true;
  if (first === 100) return (second & 0xc0) === 64;
  if (first === 169) return second === 254;
  if (first === 172) return (second & 0xf0) === 16;
  if ((first & 0xf0) === 224) return true;
  return first === 192 && second === 168;
}

/**
 * ::, ::1, fc00::/7, fe80::/10, ff00::/8 (RFC 4291, RFC 4193), and IPv6 addresses that contain a private IPv4 address:
 * IPv4-mapped, 6to4 (RFC 3056) and NAT64 (RFC 6052).
 */
function isPrivateIpv6(bytes: Uint8Array, at: number, prefixes: readonly Nat64Prefix[]): boolean {
  const behindNat64 = embeddedIpv4(bytes, at, prefixes);
  if (behindNat64 >= 0) return isPrivateIpv4(behindNat64);
  const first = bytes[at]!;
  if ((first & 0xfe) === 0xfc || first === 0xff) return true;
  if (first === 0xfe) return (bytes[at + 1]! & 0xc0) === 0x80;
  if (readU16(bytes, at) === SIX_TO_FOUR) return isPrivateIpv4(readU32(bytes, at + 2));
  if (first !== 0) return false;
  const isNat64 = readU16(bytes, at) === 0x64 && readU16(bytes, at + 2) === 0xff9b;
  for (let word = isNat64 ? 4 : 0; word < 10; word += 2) if (readU16(bytes, at + word) !== 0) return false;
  const beforeIpv4 = readU16(bytes, at + 10);
  // In ::/96 only :: and ::1 are in use; both are private, like the IPv4 addresses in 0/8.
  return (beforeIpv4 === 0 || (beforeIpv4 === 0xffff && !isNat64)) && isPrivateIpv4(readU32(bytes, at + 12));
}
