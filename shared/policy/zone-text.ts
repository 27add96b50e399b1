/** Parses the zone of a forward zone into its canonical form. Pure. */
import { networkFromText, networkToText, reverseZonesOf } from '../net/reverse-zone.ts';
import { canonicalDomain } from './domain-rule.ts';

/**
 * ASCII in lower case without a final dot; a network becomes its reverse zone, or stays a network if it has several.
 * Null for what is neither a domain name nor a network; the root is refused, since it belongs to the pools.
 */
export function canonicalZone(value: string): string | null {
  const network = networkFromText(value);
  if (network === null) return canonicalDomain(value);
  if (network.prefix === 0) return null;
  const zones = reverseZonesOf(network);
  return zones.length === 1 ? zones[0]! : networkToText(network);
}

/** The names that a canonical zone stands for. */
export function zoneNames(zone: string): string[] {
  const network = networkFromText(zone);
  return network === null ? [zone] : reverseZonesOf(network);
}
