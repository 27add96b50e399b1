/**
 * What a string in the configuration may be: addresses, networks, names, URLs, files. Each check answers
 * with what was expected, or nothing. Upstream servers have a file of their own (`upstream-url.ts`).
 */
import { isIP } from 'node:net';
import { readLocalRecordLine } from '../shared/policy/local-record.ts';
import type { Check } from './key-kinds.ts';

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/iu;

/** True for a host name in ASCII (RFC 1123 section 2.1; underscores too, as DNS names carry them). */
export function isHostName(value: string): boolean {
  const labels = value.replace(/\.$/u, '').split('.');
  // A last label of digits only is an address with a mistake in it, never a name.
  if (value.length > 254 || /^\d+$/u.test(labels.at(-1) ?? '')) return false;
  return labels.every((label) => LABEL.test(label));
}

/** Takes `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1`, `[2001:db8::1]:53` apart; undefined if none of these. */
export function splitHostPort(value: string): { host: string; port: number | undefined } | undefined {
  if (isIP(value) === 6) return { host: value, port: undefined };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/u.exec(value);
  if (match === null) return undefined;
  const [, bracketed, bare, digits] = match;
  if (bracketed !== undefined && isIP(bracketed) !== 6) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65535)) return undefined;
  return { host: bracketed ?? bare ?? '', port };
}

/** An IPv4 or IPv6 address. */
export const ip: Check<string> = (value) => (isIP(value) > 0 ? undefined : 'an IP address such as 192.0.2.1');

/** A network such as `10.0.0.0/8`; a single address stands for itself. */
export const cidr: Check<string> = (value) => {
  const [address = '', prefix, ...rest] = value.split('/');
  const family = isIP(address);
  const longest = family === 4 ? 32 : 128;
  const prefixOk = prefix === undefined || (/^\d{1,3}$/u.test(prefix) && Number(prefix) <= longest);
  return family > 0 && !address.includes('%') && rest.length === 0 && prefixOk
    ? undefined
    : 'a network such as 10.0.0.0/8 or 2001:db8::/32';
};

/** An address with or without a port: a plain resolver. */
export const resolver: Check<string> = (value) => {
  const split = splitHostPort(value);
  return split !== undefined && isIP(split.host) > 0
    ? undefined
    : 'a resolver such as 192.0.2.53, 192.0.2.53:53 or [2001:db8::53]:53';
};

/** `host:port`, the port optional, host a name or an address. */
export const hostPort: Check<string> = (value) => {
  const split = splitHostPort(value);
  return split !== undefined && (isIP(split.host) > 0 || isHostName(split.host))
    ? undefined
    : 'a server such as 192.0.2.1:53';
};

/** A domain name; the name and what is under it are meant. */
export const domain: Check<string> = (value) =>
  isHostName(value) ? undefined : 'a domain name such as home.arpa';

/** A path of the file system. */
export const path: Check<string> = (value) =>
  value !== '' && !value.includes('\0') ? undefined : 'the path of a file or folder';

/** A string that says something. */
export const nonEmpty: Check<string> = (value) =>
  value.trim() === '' ? 'a string that is not empty' : undefined;

/** `http://` or `https://` with a host. */
export const webUrl: Check<string> = (value) =>
  URL.canParse(value) && /^https?:\/\/./iu.test(value)
    ? undefined
    : 'a URL such as https://example.org/services.json';

/** `postgres://` with a host (or with a `host` parameter that names a socket's folder). */
export const postgresUrl: Check<string> = (value) =>
  URL.canParse(value) && /^postgres(ql)?:\/\/./iu.test(value)
    ? undefined
    : 'a URL such as postgres://user:password@db.example.org:5432/weir';

/** The text form of an Argon2id hash; its three parameters in any order, as programs differ in that. */
export const argon2Hash: Check<string> = (value) =>
  /^\$argon2id\$v=\d+\$[mtp]=\d+(?:,[mtp]=\d+){2}\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/u.test(value)
    ? undefined
    : 'an Argon2id hash that starts with $argon2id$';

/** Lets a check accept the empty string too. */
export function orEmpty(check: Check<string>): Check<string> {
  return (value) => {
    const expected = value === '' ? undefined : check(value);
    return expected === undefined ? undefined : `${expected}, or an empty string`;
  };
}

/** A check for an IP address of one family. */
export function ipOfFamily(family: 4 | 6): Check<string> {
  const example = family === 4 ? '192.0.2.1' : '2001:db8::1';
  return (value) => (isIP(value) === family ? undefined : `an IPv${family} address such as ${example}`);
}

/** A record such as `nas.home.arpa A 192.0.2.5`. */
export const localRecord: Check<string> = (value) => {
  const read = readLocalRecordLine(value);
  return typeof read === 'string' ? read : undefined;
};
