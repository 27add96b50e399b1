/** The active grants, in the form that threads read. Pure. */
import { addressFromText } from '../../../../shared/net/ip.ts';
import { nameFromText } from '../../../../shared/dns/name.ts';
import { type NameGrant, NO_END_SECS } from '../../../../shared/snapshot/name-rules.ts';
import type { PolicyGrant } from '../../change/rows.ts';

/** `addressesOf` returns the current addresses of the client with a MAC. */
export function grantRules(
  inForce: readonly PolicyGrant[],
  addressesOf: (mac: string) => readonly string[],
): NameGrant[] {
  return inForce.flatMap((grant) => {
    const { id, domain, subdomains, action, groupId, clientId, mac, address, untilMs } = grant;
    const name = domain === null ? null : nameFromText(domain);
    // A grant with an invalid name must not cover every name.
    if (domain !== null && name === null) return [];
    const places = mac === null ? (address === null ? [] : [address]) : addressesOf(mac);
    return {
      id,
      name,
      coversSubdomains: subdomains,
      groupId,
      clientId,
      addresses: new Uint8Array(Buffer.concat(places.flatMap((place) => addressFromText(place) ?? []))),
      isAllowing: action === 'allow',
      endsAtSecs: untilMs === null ? NO_END_SECS : Math.floor(untilMs / 1000),
    };
  });
}
