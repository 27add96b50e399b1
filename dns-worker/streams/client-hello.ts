/**
 * Reads the server name from the first octets of a client's handshake (RFC 8446 section 4.1.2, RFC 6066 section 3),
 * because OpenSSL does not report the name if a session of TLS 1.2 is resumed; and reads the client's key in that name.
 * Pure functions; every octet may come from an attacker.
 */
import type { X509Certificate } from 'node:crypto';
import { canonicalClientKey } from '../../shared/dns/client-key.ts';

/** Header of a TLS record: type, version, length. */
const RECORD_HEADER = 5;
const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
/** Header of a handshake message: type and length. A ClientHello continues with the version and the random octets. */
const MESSAGE_HEADER = 4;
const VERSION_AND_RANDOM = 34;
const SERVER_NAME_EXTENSION = 0;
const HOST_NAME = 0;
/** Maximum size of a record's content (RFC 8446 section 5.1). */
const MAX_RECORD = 16_384;

/**
 * The name in a ClientHello: '' if it has no readable name, which is valid; null if more bytes are needed. A
 * ClientHello that is split across records is not read.
 */
export function serverNameIn(octets: Buffer): string | null {
  if (octets.length < RECORD_HEADER) return null;
  const length = octets.readUInt16BE(3);
  if (octets[0] !== HANDSHAKE_RECORD || length > MAX_RECORD) return '';
  const end = RECORD_HEADER + length;
  if (octets.length < end) return null;
  return nameInMessage(octets.subarray(RECORD_HEADER, end));
}

function nameInMessage(message: Buffer): string {
  if (message.length < MESSAGE_HEADER + VERSION_AND_RANDOM || message[0] !== CLIENT_HELLO) return '';
  let at = MESSAGE_HEADER + VERSION_AND_RANDOM;
  // Skip the session id, cipher suites and compression methods.
  for (const size of [1, 2, 1] as const) {
    if (at + size > message.length) return '';
    at += size + message.readUIntBE(at, size);
  }
  if (at + 2 > message.length) return '';
  const end = Math.min(at + 2 + message.readUInt16BE(at), message.length);
  at += 2;
  while (at + 4 <= end) {
    const data = at + 4;
    const next = data + message.readUInt16BE(at + 2);
    if (next > end) return '';
    if (message.readUInt16BE(at) === SERVER_NAME_EXTENSION) return hostName(message.subarray(data, next));
    at = next;
  }
  return '';
}

/** The first name in a list, which contains one name per type. */
function hostName(list: Buffer): string {
  if (list.length < 5 || list[2] !== HOST_NAME) return '';
  const end = 5 + list.readUInt16BE(3);
  return end <= list.length ? list.toString('latin1', 5, end) : '';
}

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;
/**
 * Stands for the key when a certificate is checked for a wildcard, so that a certificate for one key's name does not
 * match.
 */
const ANY_KEY = 'any-key';
/** Maximum length of a name in text. */
const MAX_NAME_TEXT = 253;

/**
 * The first label in lower case, if the rest is a name of this server: `KEY.NAME`, with a certificate for NAME or
 * `*.NAME`. '' for every other name, such as the name of a server whose clients were redirected here.
 */
export function clientKeyIn(serverName: string, certificate: X509Certificate | null): string {
  const dot = serverName.indexOf('.');
  if (certificate === null || dot <= 0 || serverName.length > MAX_NAME_TEXT) return '';
  const key = canonicalClientKey(serverName.slice(0, dot));
  const parent = serverName.slice(dot + 1);
  if (key === null || !parent.split('.').every((label) => LABEL.test(label))) return '';
  const isOwn =
    certificate.checkHost(parent, { wildcards: false }) !== undefined ||
    certificate.checkHost(`${ANY_KEY}.${parent}`, { partialWildcards: false })?.startsWith('*.') === true;
  return isOwn ? key : '';
}
