/**
 * Finds addresses in an answer that are valid on this machine or the local network only. A public name with such an
 * address may be an attempt to reach hosts behind a firewall through a browser (DNS rebinding). Works on the bytes of
 * an answer that `response-reader.ts` has normalised.
 */
import { RRType } from '../../shared/dns/iana.ts';
import { Record, readU16, skipName } from '../../shared/dns/wire.ts';
import { AddressHint, nextAddressHint, SVC_PARAM_HEAD } from './chain-names.ts';
import type { CacheableAnswer } from '../resolve/response/cacheable-answer.ts';

const IPV4_SIZE = 4;
const IPV6_SIZE = 16;

/** Whether some address record, or hint of an SVCB or HTTPS record, of the answer section is such an address. */
export function hasPrivateAddress({
  body,
  answerCount,
}: Pick<CacheableAnswer, 'body' | 'answerCount'>): boolean {
  let at = 0;
  for (let left = answerCount; left > 0; left--) {
    const fields = skipName(body, at, body.length);
    if (fields < 0 || fields + Record.RDATA > body.length) return false;
    const rdata = fields + Record.RDATA;
    at = rdata + readU16(body, fields + Record.RDLENGTH);
    if (at > body.length) return false;
    if (isPrivateRecord(body, readU16(body, fields + Record.TYPE), rdata, at)) return true;
  }
  return false;
}

function isPrivateRecord(bytes: Uint8Array, type: number, rdata: number, end: number): boolean {
  if (type === RRType.A) return anyPrivate(bytes, rdata, end, IPV4_SIZE);
  if (type === RRType.AAAA) return anyPrivate(bytes, rdata, end, IPV6_SIZE);
  if (type !== RRType.SVCB && type !== RRType.HTTPS) return false;
  for (let hint = nextAddressHint(bytes, rdata, end, 0); hint > 0;) {
    const size = readU16(bytes, hint) === AddressHint.IPV4 ? IPV4_SIZE : IPV6_SIZE;
    const value = hint + SVC_PARAM_HEAD;
    if (anyPrivate(bytes, value, value + readU16(bytes, hint + 2), size)) return true;
    hint = nextAddressHint(bytes, rdata, end, hint);
  }
  return false;
}

function anyPrivate(bytes: Uint8Array, from: number, end: number, size: number): boolean {
  for (let at = from; at + size <= end; at += size)
    if (size === IPV4_SIZE ? isPrivateIpv4(bytes, at) : isPrivateIpv6(bytes, at)) return true;
  return false;
}

/** 0/8, 10/8, 127/8, 169.254/16, 172.16/12, 192.168/16 (RFC 1122, RFC 1918, RFC 3927). */
function isPrivateIpv4(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at]!;
  const second = bytes[at + 1]!;
  if (first === 0 || first === 10 || first === 127) return true;
  if (first === 169) return second === 254;
  if (first === 172) return (second & 0xf0) === 16;
  return first === 192 && second === 168;
}

/** ::, ::1, fc00::/7, fe80::/10 (RFC 4291, RFC 4193), and such IPv4 addresses mapped or by NAT64 (RFC 6052). */
function isPrivateIpv6(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at]!;
  if ((first & 0xfe) === 0xfc) return true;
  if (first === 0xfe) return (bytes[at + 1]! & 0xc0) === 0x80;
  if (first !== 0) return false;
  const isNat64 = readU16(bytes, at) === 0x64 && readU16(bytes, at + 2) === 0xff9b;
  for (let word = isNat64 ? 4 : 0; word < 10; word += 2) if (readU16(bytes, at + word) !== 0) return false;
  const beforeIpv4 = readU16(bytes, at + 10);
  // Of ::/96 nothing is in use but :: and ::1, both private as IPv4 addresses of 0/8 are.
  return (beforeIpv4 === 0 || (beforeIpv4 === 0xffff && !isNat64)) && isPrivateIpv4(bytes, at + 12);
}
