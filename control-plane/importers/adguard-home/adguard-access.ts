/** AdGuard Home's access lists: who may ask, and who may not. Pure. */
import { admitsKey } from '../../../shared/policy/access.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { addAllowed, addBlocked, reportOpen } from '../plan/planned-access.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { adguardPlaceOf } from './adguard-clients.ts';

/** Adds both lists. There, the first one replaces the second, and an empty one lets anyone ask. */
export function mapAdguardAccess(builder: PlanBuilder, dns: ForeignTree): void {
  const allowed = dns.texts('allowed_clients') ?? [];
  const blocked = dns.texts('disallowed_clients') ?? [];
  if (allowed.length === 0) {
    if (dns.has('allowed_clients')) reportOpen(builder, 'dns.allowed_clients');
    addBlocked(builder, knownPlaces(builder, blocked, 'dns.disallowed_clients'), 'dns.disallowed_clients');
    return;
  }
  const places = knownPlaces(builder, allowed, 'dns.allowed_clients');
  const keys = places.filter((text) => adguardPlaceOf(text)?.kind === 'key');
  for (const key of keys) {
    if (!admitsKey(key)) {
      builder.notMapped(
        'client',
        `dns.allowed_clients ${key}`,
        'its key is too short to let it ask from anywhere',
      );
      continue;
    }
    builder.client(
      { mac: null, ip: null, key, name: null, group: null },
      builder.item('client', `dns.allowed_clients ${key}`, 'a client with a known key may ask from anywhere'),
    );
  }
  const networks = places.filter((text) => !keys.includes(text));
  addAllowed(builder, networks, 'dns.allowed_clients');
  for (const text of blocked)
    builder.skipped(
      'configuration',
      `dns.disallowed_clients ${text}`,
      'it has no effect there beside dns.allowed_clients',
    );
}

/** The addresses, networks and ClientIDs; others are reported. */
function knownPlaces(builder: PlanBuilder, written: readonly string[], from: string): string[] {
  return written.flatMap((text) => {
    const place = adguardPlaceOf(text);
    if (place !== null) return [place.text];
    builder.notMapped('configuration', `${from} ${text}`, 'it is not an address, network or ClientID');
    return [];
  });
}
