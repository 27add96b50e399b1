/**
 * Schemas for strings of the configuration: addresses, networks, names, URLs and files. Messages state the expected
 * form. Upstream servers are checked in `upstream-url.ts`.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { blockedClientOf, isAllowedClient } from '../shared/policy/access.ts';
import { readLocalRecordLine } from '../shared/policy/local-record.ts';
import { isOneLine, isPlainLine } from '../shared/unsafe-characters.ts';

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/iu;

/**
 * Whether a text is a host name in ASCII (RFC 1123 section 2.1), possibly with underscores, which DNS names may
 * contain.
 */
export function isHostName(value: string): boolean {
  const labels = value.replace(/\.$/u, '').split('.');
  // A text whose last label has only digits is a mistyped address, not a name.
  if (value.length > 254 || /^\d+$/u.test(labels.at(-1) ?? '')) return false;
  return labels.every((label) => LABEL.test(label));
}

/** Splits `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`; undefined for any other text. */
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

/** Schema of a string: `expected` is the form for messages, `isGood` the check. */
export function form(expected: string, isGood: (value: string) => boolean): z.ZodString {
  return z.string(expected).refine(isGood, expected).describe(expected);
}

/**
 * Expected form in the message for a link-local address without a zone index (RFC 4007 section 11), whose interface is
 * therefore unknown.
 */
const EXPECTED_SCOPE = 'a link-local address with its interface, such as fe80::1%eth0 or [fe80::1%eth0]:53';

/**
 * Schema of a server: `expected` is the form for messages; `hostOf` returns the host, or undefined for invalid text.
 */
export function serverForm(expected: string, hostOf: (value: string) => string | undefined): z.ZodString {
  return z
    .string(expected)
    .refine((value) => hostOf(value) !== undefined, expected)
    .refine((value) => !lacksScope(hostOf(value) ?? ''), EXPECTED_SCOPE)
    .describe(expected);
}

/** Whether an address is in fe80::/10 and has no interface. */
export function lacksScope(host: string): boolean {
  return isIP(host) === 6 && /^fe[89ab]/iu.test(host) && !host.includes('%');
}

/** A variant of a form that also accepts the empty string. */
export function orEmpty(other: z.ZodString): z.ZodString {
  const isGood = (value: string): boolean => value === '' || other.safeParse(value).success;
  return form(`${other.description}, or an empty string`, isGood);
}

/** The expected form of a schema, for a message; undefined if `value` is valid. */
export function expectedInstead(of: z.ZodString, value: string): string | undefined {
  return of.safeParse(value).error?.issues[0]?.message;
}

/** Any string. */
export const text = z.string('a string');

/** A display name on one line, without characters that are invisible or reorder the text around them; may be empty. */
export const name = form('a name without control characters and invisible ones', isPlainLine);

/** A display name that must not be empty. */
export const nonEmptyName = form(
  'a name that is not empty, without control characters and invisible ones',
  (value) => value.trim() !== '' && isPlainLine(value),
);

/** A name that may contain invisible characters, because names are compared by their visible form. */
export const foldedName = form(
  'a name that is not empty, on one line, without characters that change the text direction',
  (value) => value.trim() !== '' && isOneLine(value),
);

/** A string that is not empty. */
export const nonEmpty = form('a string that is not empty', (value) => value.trim() !== '');

/** A path of the file system. */
export const path = form('the path of a file or directory', (value) => value !== '' && !value.includes('\0'));

/** An IPv4 or IPv6 address. */
export const ip = form('an IP address such as 192.0.2.1', (value) => isIP(value) > 0);

/** An IPv4 address, and below an IPv6 address. */
export const ipv4 = form('an IPv4 address such as 192.0.2.1', (value) => isIP(value) === 4);
export const ipv6 = form('an IPv6 address such as 2001:db8::1', (value) => isIP(value) === 6);

/** A network such as `10.0.0.0/8`, or a single address. */
export const cidr = form('a network such as 10.0.0.0/8 or 2001:db8::/32', (value) => {
  const [address = '', prefix, ...rest] = value.split('/');
  const longest = isIP(address) === 4 ? 32 : 128;
  const prefixOk = prefix === undefined || (/^\d{1,3}$/u.test(prefix) && Number(prefix) <= longest);
  return isIP(address) > 0 && !address.includes('%') && rest.length === 0 && prefixOk;
});

/** Allowed clients: a network, or a keyword for several networks. */
export const allowedClient = form(
  'private, connected, any, or a network such as 10.0.0.0/8 or 2001:db8::/32',
  isAllowedClient,
);

/** A client that may never query this server. */
export const blockedClient = form(
  'a network such as 10.0.0.0/8, a MAC address such as 02:00:5e:10:00:01, or a client key',
  (value) => blockedClientOf(value) !== null,
);

/** Address of a plain DNS resolver, with or without a port. */
export const resolver = serverForm(
  'a resolver such as 192.0.2.53, 192.0.2.53:53 or [2001:db8::53]:53',
  (value) => {
    const host = splitHostPort(value)?.host ?? '';
    return isIP(host) > 0 ? host : undefined;
  },
);

/** `host:port` with an optional port; host is a name or an address. */
export const hostPort = serverForm('a server such as 192.0.2.1:53', (value) => {
  const host = splitHostPort(value)?.host ?? '';
  return isIP(host) > 0 || isHostName(host) ? host : undefined;
});

/** Target of a stream: a Unix socket, or a server with a port. */
export const stream = form('a receiver such as unix:/run/dnstap.sock or tcp:192.0.2.1:6000', (value) => {
  if (/^unix:\/[^\0]+$/u.test(value)) return true;
  const server = /^tcp:(.+)$/u.exec(value)?.[1] ?? '';
  return splitHostPort(server)?.port !== undefined && expectedInstead(hostPort, server) === undefined;
});

/** A domain name, which includes its subdomains. */
export const domain = form('a domain name such as home.arpa', isHostName);

/** A name for a certificate: a domain with a dot, perhaps with a wildcard as its first label. */
export const certificateName = form('a name such as dns.example.org or *.dns.example.org', (value) => {
  const name = value.replace(/^\*\./u, '');
  return name.includes('.') && !name.endsWith('.') && !name.includes('_') && isHostName(name);
});

/** An `http://` or `https://` URL with a host. */
export const webUrl = form(
  'a URL such as https://example.org/services.json',
  (value) => URL.canParse(value) && /^https?:\/\/./iu.test(value),
);

/** An `https://` URL with a host and without credentials. */
export const httpsUrl = form('an https:// URL such as https://example.org/weir.json', (value) => {
  if (!URL.canParse(value) || !/^https:\/\/./iu.test(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
});

/** URL of an OpenID provider, which must use TLS unless it is on this machine. */
export const issuer = form('an https:// URL without a query, such as https://login.example.org', (value) => {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, search, hash, username } = new URL(value);
  if (search !== '' || hash !== '' || username !== '') return false;
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isHere);
});

/** A `postgres://` URL with a host, or with a `host` parameter that is the directory of a socket. */
const postgresUrl = form(
  'a URL such as postgres://user:password@db.example.org:5432/weir',
  (value) => URL.canParse(value) && /^postgres(ql)?:\/\/./iu.test(value),
);

/** A list of PostgreSQL URLs, or a string with URLs separated by white space. */
export const postgresUrls = z.preprocess(
  (raw) => (typeof raw === 'string' ? raw.split(/\s+/u).filter((part) => part !== '') : raw),
  z.array(postgresUrl, 'a list of strings'),
);

/** An Argon2id hash in text form. Its three parameters may be in any order, because programs differ in this. */
export const argon2Hash = form('an Argon2id hash that starts with $argon2id$', (value) =>
  /^\$argon2id\$v=\d+\$[mtp]=\d+(?:,[mtp]=\d+){2}\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/u.test(value),
);

/** A record such as `nas.home.arpa A 192.0.2.5`; the parser of local records reports errors. */
export const localRecord = z
  .string('a record such as "nas.home.arpa A 192.0.2.5"')
  .superRefine((value, context) => {
    const read = readLocalRecordLine(value);
    if (typeof read === 'string') context.addIssue(read);
  });
