/**
 * The key with which a client names itself if its address does not identify it: the first label of the name that it
 * asks a TLS server for, or the end of the path of DNS over HTTPS. It is a name, not a secret.
 */

/** A label of letters, digits and hyphens, as which a key fits both places (RFC 5890 section 2.3.1). */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** A key in canonical form, lower case; null if the text is not a key. */
export function canonicalClientKey(text: string): string | null {
  return LABEL.test(text) ? text.toLowerCase() : null;
}
