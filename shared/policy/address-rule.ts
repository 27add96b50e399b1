/**
 * Decides by the text of a rule whether it applies to addresses in answers. In lists, such rules look like rules for
 * names: an address, a pattern, or a regular expression (`address-expression.ts`). A rule with letters that no address
 * contains applies to names only, and costs nothing when addresses are checked.
 */
import { readNamePattern } from './name-pattern.ts';

/** Whether a rule's name is the text of an address: dotted IPv4, or IPv6 with its colons. */
export function isAddressName(name: string): boolean {
  return name.includes(':') || /^(?:\d{1,3}\.){3}\d{1,3}$/.test(name);
}

/** Whether a pattern is for addresses: it contains digits and dots, and no letters. */
export function isAddressPattern(text: string): boolean {
  const pattern = readNamePattern(text);
  if (typeof pattern === 'string') return false;
  const letters = pattern.pieces.join('');
  return /^[\d.]+$/.test(letters) && /\d/.test(letters) && letters.includes('.');
}
