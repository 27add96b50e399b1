/**
 * Every route of the native API. Its rows stand with their features, each in a `<noun>-routes.ts`: where it is, who may
 * use it, what goes in and comes out, and who handles it. A path that is not here does not exist, and a row without a
 * right that its caller has is refused: the guard denies by default. `openapi.ts` describes the rows; `app.ts` serves
 * them.
 */
import { accessRoutes } from '../access/access-routes.ts';
import type { PartsOf } from '../api/feature-parts.ts';
import type { Route } from '../api/route.ts';
import { auditRoutes } from '../audit/audit-routes.ts';
import { userFactorRoutes } from '../auth/accounts/user-factor-routes.ts';
import { userRoutes } from '../auth/accounts/user-routes.ts';
import { authRoutes } from '../auth/auth-routes.ts';
import { secondFactorRoutes } from '../auth/second-factor-routes.ts';
import { tokenRoutes } from '../auth/tokens/token-routes.ts';
import { backupRoutes } from '../backup/backup-routes.ts';
import { cacheRoutes } from '../cache/cache-routes.ts';
import { bypassRoutes } from '../clients/bypass/bypass-routes.ts';
import { clientRoutes } from '../clients/client-routes.ts';
import { clientSubnetRoutes } from '../clients/client-subnet-routes.ts';
import { explainRoutes } from '../explain/explain-routes.ts';
import { forwardZoneRoutes } from '../forward-zones/forward-zone-routes.ts';
import { grantRoutes } from '../grants/grant-routes.ts';
import { groupRoutes } from '../groups/group-routes.ts';
import { importRoutes } from '../importers/import-routes.ts';
import { nodeRoutes } from '../cluster/node-routes.ts';
import { compiledListRoutes } from '../lists/compiled/compiled-list-routes.ts';
import { listStatsRoutes } from '../lists/compiled/list-stats-routes.ts';
import { sourceRoutes } from '../lists/sources/source-routes.ts';
import { recordRoutes } from '../local-names/record-routes.ts';
import { queryExportRoutes } from '../query-log/reading/query-export-routes.ts';
import { queryRoutes } from '../query-log/reading/query-routes.ts';
import { queryStreamRoutes } from '../query-log/tail/query-stream-routes.ts';
import { revisionRoutes } from '../revisions/revision-routes.ts';
import { probeRoutes } from '../probes/probe-routes.ts';
import { managedDomainRoutes } from '../rules/managed-domain-routes.ts';
import { regexFilterRoutes } from '../rules/regex-filter-routes.ts';
import { safeSearchRoutes } from '../safe-search/safe-search-routes.ts';
import { blockingRoutes } from '../schedules/blocking-routes.ts';
import { scheduleRoutes } from '../schedules/schedule-routes.ts';
import { customServiceRoutes } from '../services/custom-service-routes.ts';
import { serviceRoutes } from '../services/service-routes.ts';
import { configRoutes } from '../settings/config-routes.ts';
import { dnsSettingsRoutes } from '../settings/dns-settings-routes.ts';
import { filterStatsRoutes } from '../stats/filter-stats-routes.ts';
import { simulateRoutes } from '../simulate/simulate-routes.ts';
import { dashboardRoutes } from '../stats/dashboard-routes.ts';
import { statsRoutes } from '../stats/stats-routes.ts';
import { timelineRoutes } from '../stats/timeline-routes.ts';
import { topRoutes } from '../stats/top-routes.ts';
import { healthRoutes } from '../system/health-routes.ts';
import { reachabilityRoutes } from '../system/reachability-routes.ts';
import { systemInfoRoutes } from '../system/system-info-routes.ts';
import { tlsRoutes } from '../tls/tls-routes.ts';
import { statusStreamRoutes } from '../status/status-stream-routes.ts';
import { upstreamRoutes } from '../upstreams/upstream-routes.ts';

/** In the order of the API reference. */
const FEATURES = [
  healthRoutes,
  systemInfoRoutes,
  reachabilityRoutes,
  statusStreamRoutes,
  nodeRoutes,
  probeRoutes,
  configRoutes,
  authRoutes,
  secondFactorRoutes,
  tlsRoutes,
  tokenRoutes,
  userRoutes,
  userFactorRoutes,
  groupRoutes,
  bypassRoutes,
  accessRoutes,
  clientRoutes,
  clientSubnetRoutes,
  listStatsRoutes,
  sourceRoutes,
  compiledListRoutes,
  explainRoutes,
  simulateRoutes,
  filterStatsRoutes,
  managedDomainRoutes,
  regexFilterRoutes,
  serviceRoutes,
  customServiceRoutes,
  revisionRoutes,
  importRoutes,
  auditRoutes,
  backupRoutes,
  forwardZoneRoutes,
  dnsSettingsRoutes,
  recordRoutes,
  safeSearchRoutes,
  scheduleRoutes,
  blockingRoutes,
  grantRoutes,
  cacheRoutes,
  upstreamRoutes,
  queryRoutes,
  queryExportRoutes,
  queryStreamRoutes,
  timelineRoutes,
  statsRoutes,
  topRoutes,
  dashboardRoutes,
] as const;

/** What all rows together are made of; a feature sees its own parts only. */
export type RouteParts = PartsOf<(typeof FEATURES)[number], Route>;

/** All rows, over the parts of a node. */
export function routeTable(parts: RouteParts): Route[] {
  return FEATURES.flatMap((rows) => rows(parts));
}
