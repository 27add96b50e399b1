/** Converts the name or network of a forward zone to its canonical form. Pure functions. */
import { type Network, networkFromText, networkToText } from '../net/cidr.ts';
import { reverseZonesOf } from '../net/reverse-zone.ts';
import { canonicalDomain } from './domain-rule.ts';

/**
 * The zone as ASCII in lower case without a final dot; a network becomes its reverse zone, or remains a network if it
 * has several reverse zones. Null for other text; the root is rejected, because it belongs to the pools.
 */
export function canonicalZone(value: string): string | null {
  const network = networkOf(value);
  if (network === null) return canonicalDomain(value);
  const text = networkToText(network);
  if (text.endsWith('/0')) return null;
  const zones = reverseZonesOf(network);
  return zones.length === 1 ? zones[0]! : text;
}

/** The names of a canonical zone. */
export function zoneNames(zone: string): string[] {
  const network = networkOf(zone);
  return network === null ? [zone] : reverseZonesOf(network);
}

/** A network must have a prefix length: an address alone is not a zone. */
function networkOf(text: string): Network | null {
  return text.includes('/') ? networkFromText(text.trim()) : null;
}
