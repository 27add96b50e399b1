/** Builds the name rules of a snapshot from the rows and the configuration. */
import type { Config } from '../../../../config/schema.ts';
import type { DnsSettings } from '../../../../shared/api/settings-api.ts';
import { nameFromText } from '../../../../shared/dns/name.ts';
import { PRIVATE_NETWORKS } from '../../../../shared/net/reverse-zone.ts';
import { zoneNames } from '../../../../shared/policy/zone-text.ts';
import type { NameRules } from '../../../../shared/snapshot/name-rules.ts';
import type { PolicyRows } from '../../change/rows.ts';
import type { DefinedZone, ZoneNumbers } from './zone-numbers.ts';
import { isIPv4 } from 'node:net';
import { DEFAULT_GROUP_ID } from '../../../../shared/api/policy/groups-api.ts';
import type { SafeSearchEngineData } from '../../../../shared/api/policy/safe-search-api.ts';
import {
  SAFE_SEARCH_MODE_BITS,
  type SafeEngine,
  SafeSearchMode,
  type SafeSearchRules,
  type SafeTarget,
} from '../../../../shared/snapshot/safe-search-modes.ts';
import { ENGINES } from './engine-data.ts';
import { effectiveGroupId } from './policy-table-builder.ts';

/** The name rules from `rows` and settings; `zones` assigns the indexes of zones, `grants` are the active grants. */
export function nameRules(
  rows: PolicyRows,
  settings: DnsSettings,
  { dns }: Pick<Config, 'dns'>,
  zones: ZoneNumbers,
  grants: NameRules['grants'] = [],
): NameRules {
  const written = rows.forwardZones.map(({ zone, servers }) => ({ zone, names: zoneNames(zone), servers }));
  // Zones that are derived from settings come last, because zones of the API take precedence.
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

/** Forward zones for the local domain and for reverse names of private addresses, if a server is configured. */
function localZone({ local_dns_server: server, local_domain: domain }: DnsSettings): DefinedZone[] {
  if (server === '') return [];
  const reverse = PRIVATE_NETWORKS.flatMap(zoneNames);
  const names = domain === '' ? reverse : [domain, ...reverse];
  return [{ zone: 'local_dns_server', names, servers: [`udp://${server}`] }];
}

/** The safe-search engines in `rows` per group; a disabled group has the engines of Default. */
export function safeSearchRules(rows: Pick<PolicyRows, 'groups' | 'safeSearch'>): SafeSearchRules {
  const used = ENGINES.filter(({ id }) => rows.safeSearch.some(({ engine }) => engine === id));
  const masks = new Map<number, number>();
  for (const { groupId, engine, youtubeMode } of rows.safeSearch) {
    const index = used.findIndex(({ id }) => id === engine);
    if (index < 0) continue;
    const mode = SafeSearchMode[engine === 'youtube' ? youtubeMode : 'strict'];
    masks.set(groupId, (masks.get(groupId) ?? 0) | (mode << (index * SAFE_SEARCH_MODE_BITS)));
  }
  const listed = rows.groups.some(({ id }) => id === DEFAULT_GROUP_ID);
  const groups = listed ? rows.groups : [{ id: DEFAULT_GROUP_ID, enabled: true }, ...rows.groups];
  return {
    engines: used.map(toEngine),
    groups: groups.flatMap((group) => {
      const mask = masks.get(effectiveGroupId(group)) ?? 0;
      return mask === 0 ? [] : [{ id: group.id, mask }];
    }),
  };
}

function toEngine({ id, domains, modes }: SafeSearchEngineData): SafeEngine {
  return {
    id,
    names: domains.flatMap((domain) => nameFromText(domain) ?? []),
    strict: toTarget(modes.strict),
    moderate: toTarget(modes.moderate ?? modes.strict),
  };
}

function toTarget(target: SafeSearchEngineData['modes']['strict']): SafeTarget {
  if ('cname' in target) return { cname: nameFromText(target.cname), ipv4: null };
  const ipv4 = isIPv4(target.ipv4) ? Uint8Array.from(target.ipv4.split('.').map(Number)) : null;
  return { cname: null, ipv4 };
}
