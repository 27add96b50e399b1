/** The key of a client in the name that it asked for in its TLS handshake (RFC 6066 section 3). Pure. */
import type { X509Certificate } from 'node:crypto';
import { canonicalClientKey } from '../../shared/dns/client-key.ts';

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;
/** Stands for every key where a wildcard is looked for: whether the certificate has a key's name itself does not matter. */
const ANY_KEY = 'any-key';
/** Characters of a name in text. */
const MAX_NAME_TEXT = 253;

/**
 * The first label, in lower case, where the rest is a name of this server: `KEY.NAME`, and the certificate is for NAME or
 * for `*.NAME`. '' for every other name, as of another server whose clients were diverted to this one.
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
