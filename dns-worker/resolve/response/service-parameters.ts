/** The parameters of SVCB and HTTPS records (RFC 9460 section 2.2 and section 7). */
import { readU16 } from '../../../shared/dns/wire.ts';

/** Keys whose values have a defined form (RFC 9460 section 14.3.2). */
const ServiceKey = {
  MANDATORY: 0,
  ALPN: 1,
  NO_DEFAULT_ALPN: 2,
  PORT: 3,
  IPV4_HINT: 4,
  IPV6_HINT: 6,
} as const;

/**
 * Whether `at` to `end` contains valid parameters: keys in order without duplicates, and values in the form of their
 * keys.
 */
export function isServiceParameters(octets: Uint8Array, at: number, end: number): boolean {
  const keys = new Set<number>();
  let before = -1;
  for (let offset = at; offset < end;) {
    if (offset + 4 > end) return false;
    const key = readU16(octets, offset);
    const valueAt = offset + 4;
    offset = valueAt + readU16(octets, offset + 2);
    if (key <= before || offset > end || !isValue(key, octets.subarray(valueAt, offset))) return false;
    keys.add(key);
    before = key;
  }
  return mandatoryKeys(octets, at, end).every((key) => keys.has(key));
}

function isValue(key: number, value: Uint8Array): boolean {
  const { length } = value;
  switch (key) {
    case ServiceKey.MANDATORY:
      return length > 0 && length % 2 === 0 && isAscending(value);
    case ServiceKey.ALPN:
      return length > 0 && isStrings(value);
    case ServiceKey.NO_DEFAULT_ALPN:
      return length === 0;
    case ServiceKey.PORT:
      return length === 2;
    case ServiceKey.IPV4_HINT:
      return length > 0 && length % 4 === 0;
    case ServiceKey.IPV6_HINT:
      return length > 0 && length % 16 === 0;
    default:
      return true;
  }
}

/** RFC 9460 section 8: keys are in ascending order, without `mandatory` itself. */
function isAscending(value: Uint8Array): boolean {
  let before = 0;
  for (let at = 0; at < value.length; at += 2) {
    const key = readU16(value, at);
    if (key <= before) return false;
    before = key;
  }
  return true;
}

/** RFC 9460 section 7.1.1: one or more strings, none of them empty. */
function isStrings(value: Uint8Array): boolean {
  let at = 0;
  while (at < value.length) {
    if (value[at] === 0) return false;
    at += value[at]! + 1;
  }
  return at === value.length;
}

/**
 * The keys that the first parameter lists as mandatory: a client must know all of them, and all of them must be present
 * (RFC 9460 section 8).
 */
function mandatoryKeys(octets: Uint8Array, at: number, end: number): number[] {
  if (at >= end || readU16(octets, at) !== ServiceKey.MANDATORY) return [];
  const valueAt = at + 4;
  const count = readU16(octets, at + 2) / 2;
  return Array.from({ length: count }, (_, i) => readU16(octets, valueAt + 2 * i));
}
