/** Converts the domain of a manual rule to its canonical form. Pure functions. */

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Maximum length of a name as text without its final dot (RFC 1035 section 2.3.4). */
const MAX_LENGTH = 253;
const LAST_LABEL_IS_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/**
 * The name in ASCII (IDN as A-labels, RFC 5890), lower case, no final dot; null if it is not a domain name. Addresses
 * are rejected, because no public name ends with a number.
 */
export function canonicalDomain(value: string): string | null {
  const trimmed = value.trim().replace(/[.\u3002]$/, '');
  const ascii = isAscii(trimmed) ? trimmed.toLowerCase() : toALabels(trimmed);
  if (ascii === null || ascii.length === 0 || ascii.length > MAX_LENGTH || LAST_LABEL_IS_NUMBER.test(ascii))
    return null;
  return ascii.split('.').every((label) => LABEL.test(label)) ? ascii : null;
}

/** Canonical form of a rule, which may begin with `*.` to cover a name and all its subdomains. */
export function canonicalDomainRule(value: string): string | null {
  const trimmed = value.trim();
  const isWildcard = trimmed.startsWith('*.');
  const domain = canonicalDomain(isWildcard ? trimmed.slice(2) : trimmed);
  return domain === null ? null : `${isWildcard ? '*.' : ''}${domain}`;
}

function isAscii(value: string): boolean {
  // eslint-disable-next-line no-control-regex -- all of ASCII is what this looks for
  return /^[\u0000-\u007f]*$/.test(value);
}

/** Converts to A-labels with the host parser of the URL standard, which implements UTS 46 as browsers do. */
function toALabels(value: string): string | null {
  // In a URL, these characters would start another part.
  if (/[/\\?#@:[\]%\s]/.test(value) || !URL.canParse(`http://${value}/`)) return null;
  return new URL(`http://${value}/`).hostname;
}
