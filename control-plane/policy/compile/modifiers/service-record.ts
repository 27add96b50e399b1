/**
 * Converts `priority target key=value …` to the RDATA of HTTPS and SVCB records (RFC 9460 section 2). Supports the keys
 * of that RFC and `dohpath` (RFC 9461).
 */
import { addressFromText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import { nameFromText } from '../../../../shared/dns/name.ts';

const KEYS = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint', 'dohpath'];
const IPV4_SIZE = 4;

/** The RDATA; null if the text is invalid. */
export function serviceRdata(data: string): Uint8Array | null {
  const [priority = '', written = '', ...options] = data.split(/\s+/u);
  const target = targetOf(written);
  if (!isNumber(priority) || target === null) return null;
  const params = new Map<number, Buffer>();
  for (const option of options) {
    const equals = option.indexOf('=');
    const name = (equals < 0 ? option : option.slice(0, equals)).toLowerCase();
    const key = KEYS.indexOf(name);
    const value = key < 0 ? null : valueOf(name, equals < 0 ? '' : option.slice(equals + 1));
    if (value === null || params.has(key)) return null;
    params.set(key, value);
  }
  if (Number(priority) === 0 && params.size > 0) return null;
  const parts: Uint8Array[] = [u16(Number(priority)), target];
  // Keys must be in ascending order (RFC 9460 section 2.2).
  for (const [key, value] of [...params].sort(([a], [b]) => a - b))
    parts.push(u16(key), u16(value.length), value);
  return Buffer.concat(parts);
}

function valueOf(name: string, text: string): Buffer | null {
  const items = text.split(',');
  switch (name) {
    case 'mandatory': {
      const keys = items.map((item) => KEYS.indexOf(item.toLowerCase()));
      return keys.some((key) => key <= 0) ? null : Buffer.concat(keys.sort((a, b) => a - b).map(u16));
    }
    case 'alpn': {
      const isFit = items.every((item) => item !== '' && Buffer.byteLength(item) <= 255);
      return isFit
        ? Buffer.concat(items.flatMap((item) => [Buffer.of(Buffer.byteLength(item)), Buffer.from(item)]))
        : null;
    }
    case 'no-default-alpn':
      return text === '' ? Buffer.alloc(0) : null;
    case 'port':
      return isNumber(text) ? u16(Number(text)) : null;
    case 'ipv4hint':
    case 'ipv6hint':
      return addressesOf(items, name === 'ipv4hint');
    case 'ech':
      return /^[A-Za-z0-9+/]+={0,2}$/u.test(text) ? Buffer.from(text, 'base64') : null;
    default:
      return text === '' ? null : Buffer.from(text);
  }
}

function addressesOf(items: readonly string[], areIpv4: boolean): Buffer | null {
  const addresses = items.map(addressFromText);
  if (addresses.some((address) => address === null || isMappedIpv4(address) !== areIpv4)) return null;
  return Buffer.concat(addresses.map((address) => address!.subarray(areIpv4 ? 16 - IPV4_SIZE : 0)));
}

/** A name in wire form; `.` is the root. */
export function targetOf(text: string): Uint8Array | null {
  if (text === '.') return Uint8Array.of(0);
  const name = canonicalDomain(text);
  return name === null ? null : nameFromText(name);
}

function isNumber(text: string): boolean {
  return /^\d{1,5}$/u.test(text) && Number(text) <= 0xffff;
}

function u16(value: number): Buffer {
  return Buffer.of(value >>> 8, value & 0xff);
}
