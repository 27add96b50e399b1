/**
 * The key by which a client identifies itself where its address cannot identify it: the first label of the server name
 * in its TLS handshake, or the end of the path of DNS over HTTPS. A key is a name, not a secret.
 */

/**
 * A label of letters, digits and hyphens, so that a key is valid in a server name and in a path (RFC 5890 section
 * 2.3.1).
 */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** A key in canonical form, lower case; null if the text is not a key. */
export function canonicalClientKey(text: string): string | null {
  return LABEL.test(text) ? text.toLowerCase() : null;
}
