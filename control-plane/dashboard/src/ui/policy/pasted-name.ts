/** Extracts the name of a rule from pasted text: a name, an Adblock rule or a URL. Pure functions. */
import { canonicalDomainRule } from '../../../../../shared/policy/domain-rule.ts';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The canonical rule for a text: `*.NAME` if `subdomains` is true or the text itself includes subdomains; null if the
 * text contains no name.
 */
export function ruleOfPasted(word: string, subdomains: boolean): string | null {
  const rule = canonicalDomainRule(nameOfPasted(word.trim()));
  return rule === null || !subdomains || includesSubdomains(rule) ? rule : `*.${rule}`;
}

/** Whether the text itself includes subdomains: `*.x`, `.x` or `||x^`. */
export function includesSubdomains(word: string): boolean {
  return nameOfPasted(word.trim()).startsWith('*.');
}

/** Whether the text is a URL or a server address, of which a rule uses only the name. */
export function isAddress(word: string): boolean {
  const text = word.trim();
  return ruleOfPasted(text, false) !== null && (SCHEME.test(text) || /^[^/?#|@]+[:/?#]/.test(text));
}

/** Name of a rule, without the prefix for subdomains. */
export function nameOfRule(rule: string): string {
  return rule.startsWith('*.') ? rule.slice(2) : rule;
}

function nameOfPasted(word: string): string {
  const adblock = /^(?:@@)?\|\|([^/^$|]+)\^?(?:\$\S*)?$/.exec(word);
  if (adblock !== null) return `*.${nameOfRule(adblock[1]!)}`;
  if (/^\.[^.]/.test(word)) return `*${word}`;
  if (SCHEME.test(word)) return hostOf(word) ?? word;
  // Text with a port or path but without a scheme is also accepted: `example.org:8443`, `example.org/page`. A path
  // alone is not a name.
  return (/^[^/?#].*[:/?#]/.test(word) ? hostOf(`http://${word}`) : null) ?? word;
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}
