/**
 * Masks credentials in URLs in the dashboard, logs and API responses. A form sends a masked URL back to the server,
 * which then replaces the masks with the credentials in the stored URL.
 */

import { addressFromText } from './ip.ts';

/** Text in place of a credential. */
const MASK = '***';
/** Names of parameters that probably contain credentials. */
const SECRET_NAME =
  /token|secret|passw|pwd|passphrase|(?:api|access|auth|private)[-_]?key|\bauth\b|credential|signature|session|^(?:key|sig|pass|pin|auth)$/i;

/** `text` with user information and the values of secret parameters masked; unchanged if it has neither. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return maskUnparsed(text);
  const url = new URL(text);
  const search = mapSecrets(url.search, () => MASK);
  const hasUser = (url.username !== '' || url.password !== '') && !isPinned(url);
  if (!hasUser && search === url.search) return text;
  if (hasUser) {
    url.username = MASK;
    url.password = '';
  }
  return replaceSearch(url, search);
}

/**
 * Whether the user part is the host name of an upstream server that is configured together with its address
 * (`host@ip`).
 */
function isPinned({ protocol, username, password, hostname }: URL): boolean {
  if (protocol !== 'tls:' && protocol !== 'https:') return false;
  // In a tls:// URL, the apparent password may be a port; lists are not fetched over tls://, so they are not affected.
  const mayBePort = password === '' || (protocol === 'tls:' && /^\d{1,5}$/.test(password));
  const isName = mayBePort && /^(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/i.test(decoded(username));
  return isName && addressFromText(hostname.replace(/^\[(.*)\]$/, '$1')) !== null;
}

/** Whether the text contains a mask in place of a credential. */
export function hasMask(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  let isMasked = url.username === MASK || url.password === MASK;
  mapSecrets(url.search, (value) => {
    isMasked ||= value === MASK;
    return value;
  });
  return isMasked;
}

/**
 * `given` with the credentials of `stored` in place of its masks; null if `given` has a different origin, for which the
 * credentials were not entered.
 */
export function unmaskUrl(given: string, stored: string): string | null {
  if (given === shownUrl(stored)) return stored;
  if (!URL.canParse(given) || !URL.canParse(stored)) return null;
  const [url, from] = [new URL(given), new URL(stored)];
  if (url.origin !== from.origin) return null;
  if (url.username === MASK || url.password === MASK) {
    url.username = from.username;
    url.password = from.password;
  }
  const known = new Map<string, string[]>();
  mapSecrets(from.search, (value, name) => {
    known.set(name, [...(known.get(name) ?? []), value]);
    return value;
  });
  const search = mapSecrets(url.search, (value, name) =>
    value === MASK ? (known.get(name)?.shift() ?? MASK) : value,
  );
  const unmasked = replaceSearch(url, search);
  return hasMask(unmasked) ? null : unmasked;
}

/** A query string with the values of its secret parameters replaced; all other text is unchanged. */
function mapSecrets(search: string, replace: (value: string, name: string) => string): string {
  return search.replaceAll(/([?&])([^=&]+)=([^&]*)/g, (whole, before: string, name: string, value: string) =>
    SECRET_NAME.test(decoded(name)) ? `${before}${name}=${replace(value, name)}` : whole,
  );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The text of `url` with another query string; assigning `url.search` would encode the string again. */
function replaceSearch(url: URL, search: string): string {
  const { hash } = url;
  url.hash = '';
  url.search = '';
  return `${url.href}${search}${hash}`;
}

/** Text that is not a valid URL may still contain credentials. */
function maskUnparsed(text: string): string {
  const withoutUser = text.replaceAll(/(:[/\\]*)[^/\\?#\s]*@/g, `$1${MASK}@`);
  return mapSecrets(withoutUser, () => MASK);
}
