/** Converts the active grants to the form that DNS threads read. Pure. */
import { addressFromText } from '../../../../shared/net/ip.ts';
import { nameFromText } from '../../../../shared/dns/name.ts';
import { type NameGrant, NO_END_SECS } from '../../../../shared/snapshot/name-rules.ts';
import type { PolicyGrant } from '../../change/rows.ts';

type GrantedNames = Pick<NameGrant, 'name' | 'coversSubdomains'>;

/** `addressesOf` returns the current addresses of the client with a MAC. */
export function grantRules(
  active: readonly PolicyGrant[],
  addressesOf: (mac: string) => readonly string[],
): NameGrant[] {
  return active.flatMap((grant) => {
    const { id, action, groupId, clientId, mac, address, untilMs } = grant;
    const places = mac === null ? (address === null ? [] : [address]) : addressesOf(mac);
    const rule = {
      id,
      groupId,
      clientId,
      addresses: new Uint8Array(Buffer.concat(places.flatMap((place) => addressFromText(place) ?? []))),
      isAllowing: action === 'allow',
      endsAtSecs: untilMs === null ? NO_END_SECS : Math.floor(untilMs / 1000),
    };
    return namesOf(grant).map((names) => ({ ...rule, ...names }));
  });
}

/** The names that a grant covers, in wire form; null = every name. */
function namesOf({ domain, subdomains, serviceId, service }: PolicyGrant): GrantedNames[] {
  if (serviceId !== undefined) {
    const { domains = [], exact = [] } = service ?? {};
    return [...domains.flatMap((name) => named(name, true)), ...exact.flatMap((name) => named(name, false))];
  }
  return domain === null ? [{ name: null, coversSubdomains: subdomains }] : named(domain, subdomains);
}

/** A grant with an invalid name must not cover every name, so it covers none. */
function named(domain: string, coversSubdomains: boolean): GrantedNames[] {
  const name = nameFromText(domain);
  return name === null ? [] : [{ name, coversSubdomains }];
}
