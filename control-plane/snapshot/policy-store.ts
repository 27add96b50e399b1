/** SQL of everything that policy is made of, read in one statement and so from one moment. */
import type { Queryable } from '../db/database.ts';
import { CLIENT_COLUMNS, type ClientColumns, ClientRowsMemory } from './client-rows.ts';
import {
  type BlockingSwitch,
  NO_DNS_SETTINGS,
  NO_POLICY_ROWS,
  type PolicyBlockedService,
  type PolicyForwardZone,
  type PolicyGroup,
  type PolicyLocalRecord,
  type PolicyManagedDomain,
  type PolicyRegexFilter,
  type PolicyRows,
  type PolicySafeSearch,
  type PolicySchedule,
  type PolicySource,
  type WrittenDnsSettings,
} from './compiled-rules.ts';

/** What the catalog says of a service; undefined where it knows none of that id. */
export type FindService = (
  serviceId: string,
) => Pick<PolicyBlockedService, 'serviceName' | 'domains' | 'exact'> | undefined;

interface Row extends ClientColumns {
  readonly groups: PolicyGroup[];
  readonly sources: PolicySource[];
  readonly managed: PolicyManagedDomain[];
  readonly regexes: PolicyRegexFilter[];
  readonly services: {
    readonly serviceId: string;
    readonly groupId: number;
    /** Of custom services, else null. */
    readonly name: string | null;
    readonly domains: string[] | null;
  }[];
  readonly zones: PolicyForwardZone[];
  readonly local: PolicyLocalRecord[];
  readonly schedules: PolicySchedule[];
  readonly blocking_switch: BlockingSwitch | null;
  readonly settings: WrittenDnsSettings | null;
  readonly safeSearch: PolicySafeSearch[];
}

const QUERY = `SELECT
  (SELECT coalesce(json_agg(json_build_object('id', id, 'enabled', enabled) ORDER BY id), '[]')
     FROM groups) AS groups,
  (SELECT coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'kind', s.kind, 'enabled', s.enabled,
          'groupIds', (SELECT coalesce(json_agg(g.group_id ORDER BY g.group_id), '[]')
             FROM list_source_groups g WHERE g.source_id = s.id)) ORDER BY s.id), '[]')
     FROM list_sources s) AS sources,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name,
          'domain', CASE WHEN starts_with(domain, '*.') THEN substr(domain, 3) ELSE domain END,
          'suffix', starts_with(domain, '*.'), 'action', action, 'groupId', group_id) ORDER BY id), '[]')
     FROM managed_domains WHERE enabled) AS managed,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'name', name, 'pattern', pattern, 'action', action,
          'groupId', group_id) ORDER BY id), '[]')
     FROM regex_filters WHERE enabled) AS regexes,
  ${CLIENT_COLUMNS},
  (SELECT coalesce(json_agg(json_build_object('serviceId', b.service_id, 'groupId', b.group_id,
          'name', c.name, 'domains', c.domains) ORDER BY b.id), '[]')
     FROM blocked_services b LEFT JOIN custom_services c USING (service_id)) AS services,
  (SELECT coalesce(json_agg(json_build_object('zone', zone, 'servers', servers) ORDER BY id), '[]')
     FROM forward_zones WHERE enabled) AS zones,
  (SELECT coalesce(json_agg(json_build_object('id', id, 'fqdn', fqdn, 'domain', domain, 'type', record_type,
          'value', value, 'ttlSecs', ttl) ORDER BY id), '[]') FROM local_records) AS local,
  (SELECT coalesce(json_agg(json_build_object('groupId', g.group_id, 'timezone', p.timezone,
          'slots', (SELECT coalesce(json_agg(json_build_object('days', days, 'start', start_minute, 'end', end_minute,
             'action', action) ORDER BY id), '[]') FROM schedule_slots s WHERE s.profile_id = p.id))
          ORDER BY g.group_id), '[]')
     FROM group_schedules g JOIN schedule_profiles p ON p.id = g.profile_id) AS schedules,
  (SELECT json_build_object('enabled', enabled,
          'until', to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
     FROM blocking_switch) AS blocking_switch,
  (SELECT json_build_object('neverForwardNonFqdn', never_forward_non_fqdn,
          'neverForwardReverseLookups', never_forward_reverse_lookups, 'localDomain', local_domain,
          'localDnsServer', local_dns_server) FROM dns_settings) AS settings,
  (SELECT coalesce(json_agg(json_build_object('groupId', group_id, 'engine', engine, 'youtubeMode', youtube_mode)
          ORDER BY group_id, engine), '[]')
     FROM safe_search_configs WHERE enabled) AS "safeSearch"`;

/** Everything as policy sees it; `findService` knows the built-in services, `memory` what was read before. */
export async function readPolicyRows(
  db: Queryable,
  findService: FindService,
  memory = new ClientRowsMemory(),
): Promise<PolicyRows> {
  const { rows } = await db.query<Row>(QUERY, memory.versions());
  const {
    groups,
    sources,
    managed,
    regexes,
    services,
    zones,
    settings,
    local,
    safeSearch,
    schedules,
    blocking_switch: blockingSwitch,
  } = rows[0]!;
  const blockedServices: PolicyBlockedService[] = [];
  for (const { serviceId, groupId, name, domains } of services) {
    const service =
      name === null ? findService(serviceId) : { serviceName: name, domains: domains ?? [], exact: [] };
    // A service that left the catalog blocks nothing until it comes back.
    if (service !== undefined) blockedServices.push({ serviceId, groupId, ...service });
  }
  return {
    ...NO_POLICY_ROWS,
    groups,
    sources,
    managedDomains: managed,
    regexFilters: regexes,
    blockedServices,
    forwardZones: zones,
    localRecords: local,
    schedules,
    blockingSwitch,
    safeSearch,
    dnsSettings: settings ?? NO_DNS_SETTINGS,
    ...memory.take(rows[0]!),
  };
}
