/** Builds the name rules of a snapshot from the rows and the configuration. */
import type { Config } from '../../../config/schema.ts';
import type { DnsSettings } from '../../../shared/api/settings-api.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { PRIVATE_NETWORKS } from '../../../shared/net/reverse-zone.ts';
import { zoneNames } from '../../../shared/policy/zone-text.ts';
import type { NameRules } from '../../../shared/snapshot/name-rules.ts';
import type { PolicyRows } from '../../policy/rows.ts';
import type { DefinedZone, ZoneNumbers } from './zone-numbers.ts';
import { safeSearchRules } from './safe-search-rules.ts';

/** The name rules of `rows` and settings; `zones` assigns the numbers, `grants` are those in force. */
export function nameRules(
  rows: PolicyRows,
  settings: DnsSettings,
  { dns }: Pick<Config, 'dns'>,
  zones: ZoneNumbers,
  grants: NameRules['grants'] = [],
): NameRules {
  const written = rows.forwardZones.map(({ zone, servers }) => ({ zone, names: zoneNames(zone), servers }));
  // Last: a zone of the API outranks those that follow from the settings.
  const numbered = zones.number([...written, ...localZone(settings)]);
  const exempt = [...dns.rebinding_allowlist, settings.local_domain];
  return {
    forwardZones: numbered,
    rebinding: {
      isOn: dns.rebinding_protection,
      exempt: exempt.filter((name) => name !== '').flatMap((name) => nameFromText(name) ?? []),
    },
    safeSearch: safeSearchRules(rows),
    grants,
  };
}

/** The local domain and the private addresses, if there is a server that knows them. */
function localZone({ local_dns_server: server, local_domain: domain }: DnsSettings): DefinedZone[] {
  if (server === '') return [];
  const reverse = PRIVATE_NETWORKS.flatMap(zoneNames);
  const names = domain === '' ? reverse : [domain, ...reverse];
  return [{ zone: 'local_dns_server', names, servers: [`udp://${server}`] }];
}
