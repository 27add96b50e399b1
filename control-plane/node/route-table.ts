/**
 * Every route of the native API. The features define the rows, each in a `<noun>-routes.ts`: path, access, schemas and
 * handler. A path that is not in this table does not exist, and a request is rejected if the caller lacks the right
 * that the row requires. `openapi.ts` describes the rows; `app.ts` serves them.
 */
import { accessRoutes } from '../clients/access/access-routes.ts';
import type { Route } from '../api/route.ts';
import { auditRoutes } from '../policy/audit/audit-routes.ts';
import { userFactorRoutes } from '../web/auth/accounts/user-factor-routes.ts';
import { userRoutes } from '../web/auth/accounts/user-routes.ts';
import { authRoutes } from '../web/auth/auth-routes.ts';
import { secondFactorRoutes } from '../web/auth/second-factor-routes.ts';
import { tokenRoutes } from '../web/auth/tokens/token-routes.ts';
import { backupRoutes } from '../transfer/backup/backup-routes.ts';
import { cacheRoutes } from '../resolving/cache/cache-routes.ts';
import { bypassRoutes } from '../clients/devices/bypass/bypass-routes.ts';
import { clientClearRoutes } from '../clients/devices/clearing/client-clear-routes.ts';
import { clientRoutes } from '../clients/devices/client-routes.ts';
import { newDeviceRoutes } from '../clients/devices/new-devices/new-device-routes.ts';
import { mergeRoutes } from '../clients/devices/merging/merge-routes.ts';
import { clientSubnetRoutes } from '../clients/devices/client-subnet-routes.ts';
import { explainRoutes } from '../insight/explain/explain-routes.ts';
import { forwardZoneRoutes } from '../filtering/forward-zones/forward-zone-routes.ts';
import { grantRoutes } from '../filtering/grants/grant-routes.ts';
import { unblockRequestRoutes } from '../filtering/unblock-requests/unblock-request-routes.ts';
import { publicRequestRoutes } from '../filtering/unblock-requests/public-request-routes.ts';
import { groupRoutes } from '../clients/groups/group-routes.ts';
import { importRoutes } from '../transfer/importers/import-routes.ts';
import { updateRoutes } from './updates/update-routes.ts';
import { nodeRoutes } from './system/node-routes.ts';
import { compiledListRoutes } from '../lists/compiled/compiled-list-routes.ts';
import { listStatsRoutes } from '../lists/compiled/list-stats-routes.ts';
import { listCatalogRoutes } from '../lists/catalog/list-catalog-routes.ts';
import { listPreviewRoutes } from '../lists/preview/list-preview-routes.ts';
import { sourceRoutes } from '../lists/sources/source-routes.ts';
import { recordRoutes } from '../filtering/local-names/record-routes.ts';
import { logClearRoutes } from '../clients/devices/clearing/log-clear-routes.ts';
import { queryExportRoutes } from '../query-log/reading/query-export-routes.ts';
import { queryRoutes } from '../query-log/reading/query-routes.ts';
import { queryStreamRoutes } from '../query-log/tail/query-stream-routes.ts';
import { revisionRoutes } from '../transfer/revisions/revision-routes.ts';
import { probeRoutes, publicProbeRoutes } from '../clients/probes/probe-routes.ts';
import { managedDomainRoutes } from '../filtering/rules/managed-domain-routes.ts';
import { regexFilterRoutes } from '../filtering/rules/regex-filter-routes.ts';
import { safeSearchRoutes } from '../filtering/safe-search/safe-search-routes.ts';
import { blockingRoutes } from '../filtering/schedules/blocking-routes.ts';
import { planRoutes } from '../filtering/plans/plan-routes.ts';
import { scheduleRoutes } from '../filtering/schedules/schedule-routes.ts';
import { customServiceRoutes } from '../filtering/services/custom-service-routes.ts';
import { clientServiceRoutes } from '../filtering/services/client-service-routes.ts';
import { serviceRoutes } from '../filtering/services/service-routes.ts';
import { configRoutes } from '../policy/settings/config-routes.ts';
import { dnsSettingsRoutes } from '../policy/settings/dns-settings-routes.ts';
import { filterStatsRoutes } from '../query-log/statistics/filter-stats-routes.ts';
import { simulateRoutes } from '../insight/simulate/simulate-routes.ts';
import { breakdownRoutes } from '../query-log/statistics/breakdown-routes.ts';
import { dashboardRoutes } from '../query-log/statistics/dashboard-routes.ts';
import { statsRoutes } from '../query-log/statistics/stats-routes.ts';
import { timelineRoutes } from '../query-log/statistics/timeline-routes.ts';
import { topRoutes } from '../query-log/statistics/top-routes.ts';
import { diagnosisRoutes } from './diagnosis/diagnosis-routes.ts';
import { healthRoutes } from './system/health-routes.ts';
import { reachabilityRoutes } from './system/reachability-routes.ts';
import { systemInfoRoutes } from './system/system-info-routes.ts';
import { acmeRoutes } from '../web/acme/acme-routes.ts';
import { tlsRoutes } from '../web/tls/tls-routes.ts';
import { phoneSetupRoutes, publicPhoneRoutes } from '../web/phones/phone-setup-routes.ts';
import { statusStreamRoutes } from './status/status-stream-routes.ts';
import { upstreamRoutes } from '../resolving/upstreams/upstream-routes.ts';
import { compatAuthRoutes } from '../web/compat/compat-auth-routes.ts';
import { compatHistoryRoutes } from '../web/compat/compat-history-routes.ts';
import { compatNodeRoutes } from '../web/compat/compat-node-routes.ts';
import { compatPaddRoutes } from '../web/compat/compat-padd-routes.ts';
import { compatQueriesRoutes } from '../web/compat/compat-queries-routes.ts';
import type { CompatRoute } from '../web/compat/compat-route.ts';
import { compatStatsRoutes } from '../web/compat/compat-stats-routes.ts';
import { compatTopRoutes } from '../web/compat/compat-top-routes.ts';

/** Features in the order of the API reference. */
const FEATURES = [
  healthRoutes,
  systemInfoRoutes,
  diagnosisRoutes,
  updateRoutes,
  reachabilityRoutes,
  statusStreamRoutes,
  nodeRoutes,
  probeRoutes,
  configRoutes,
  authRoutes,
  secondFactorRoutes,
  tlsRoutes,
  acmeRoutes,
  tokenRoutes,
  userRoutes,
  userFactorRoutes,
  groupRoutes,
  bypassRoutes,
  accessRoutes,
  newDeviceRoutes,
  clientClearRoutes,
  clientRoutes,
  clientServiceRoutes,
  phoneSetupRoutes,
  clientSubnetRoutes,
  mergeRoutes,
  listCatalogRoutes,
  listPreviewRoutes,
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
  planRoutes,
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
  unblockRequestRoutes,
  cacheRoutes,
  upstreamRoutes,
  queryExportRoutes,
  queryStreamRoutes,
  timelineRoutes,
  logClearRoutes,
  // Listed after all other paths below /queries, because `{id}` would match their names.
  queryRoutes,
  statsRoutes,
  breakdownRoutes,
  topRoutes,
  dashboardRoutes,
] as const;

/**
 * The combined services that all these functions require. TypeScript infers an intersection, because parameters are
 * contravariant.
 */
type ContextOf<Feature, Row> = (
  Feature extends (context: infer Context) => Row[] ? (context: Context) => void : never
) extends (context: infer All) => void
  ? All
  : never;

/** The services that all rows require; each feature gets only the services that it requires. */
export type RouteContext = ContextOf<(typeof FEATURES)[number], Route>;

/** All rows, with the services of a node. */
export function routeTable(context: RouteContext): Route[] {
  return FEATURES.flatMap((rows) => rows(context));
}

const COMPAT_FEATURES = [
  compatAuthRoutes,
  compatStatsRoutes,
  compatHistoryRoutes,
  compatTopRoutes,
  compatQueriesRoutes,
  compatNodeRoutes,
  compatPaddRoutes,
] as const;

/** The context of the routes of the compatibility API. */
export type CompatContext = ContextOf<(typeof COMPAT_FEATURES)[number], CompatRoute>;

/** All routes of the compatibility API. They change nothing except the caller's own session. */
export function compatTable(context: CompatContext): CompatRoute[] {
  return COMPAT_FEATURES.flatMap((rows) => rows(context));
}

const CHECK_FEATURES = [publicProbeRoutes, publicRequestRoutes, publicPhoneRoutes] as const;

/** The context of the rows below the page `/check`. */
type CheckContext = ContextOf<(typeof CHECK_FEATURES)[number], Route>;

/** The rows below the page `/check`, which are not part of the API. */
export function checkTable(context: CheckContext): Route[] {
  return CHECK_FEATURES.flatMap((rows) => rows(context));
}
