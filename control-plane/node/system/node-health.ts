/** The state of this node for `/health`, from memory only: it must never wait. */
import type { Health, HealthCheck } from '../../../shared/api/system-api.ts';
import type { UpstreamReport, UpstreamReports } from '../../../shared/threads/messages.ts';
import { type Clock, uptimeSecs } from '../../../shared/clock.ts';
import type { ClockFloor } from '../../host/clock/clock-floor.ts';
import type { Configuration } from '../../policy/settings/configuration.ts';
import { certificatesCheck, type UsedCertificate } from '../../metrics/checks/certificate-check.ts';
import { diskCheck, type DiskSpace } from '../../metrics/checks/disk-space.ts';
import type { NodeClaim } from '../../storage/cluster/node-claim.ts';
import type { Database } from '../../storage/db/database.ts';
import type { DayExport } from '../../query-log/parquet-export/day-export.ts';
import type { SnapshotPublisher } from '../../policy/snapshot/publish/publisher.ts';
import type { WorkerSupervisor } from '../../threads/supervisor.ts';
import type { TroubledNode } from '../../storage/cluster/node-figures.ts';

/** Description of a node in its health report. */
export interface NamedNode {
  readonly version: string;
  /** `server.node_name`. */
  readonly nodeName: string;
  readonly clock: Clock;
  /** `clock.monotonicMs()` when the node started. */
  readonly startedAtMs: number;
}

/** Health of the node, from its checks. */
export function healthOf(node: NamedNode, checks: Health['checks']): Health {
  const isWhole = Object.values(checks).every((check) => check.status === 'ok');
  return {
    status: isWhole ? 'ok' : 'degraded',
    version: node.version,
    node: node.nodeName,
    uptime_secs: uptimeSecs(node),
    checks,
  };
}

/** The parts whose state is checked. */
export interface HealthParts {
  readonly supervisor: WorkerSupervisor;
  readonly database: Database;
  readonly publisher: SnapshotPublisher;
  /** Reason why rows of the query log cannot be stored; null = rows can be stored. */
  readonly logTrouble: () => string | null;
  /** Export of finished days of the query log. */
  readonly dayExport: Pick<DayExport, 'trouble'>;
  readonly claim: Pick<NodeClaim, 'othersInTrouble' | 'otherVersions' | 'aheadMs'>;
  readonly clockFloor: Pick<ClockFloor, 'trouble'>;
  readonly clock: Clock;
  readonly configuration: Pick<Configuration, 'reloadFault'>;
  readonly certificates: () => readonly UsedCertificate[];
  readonly disk: Pick<DiskSpace, 'now'>;
  readonly writer: { readonly spoolLimitBytes: number };
  readonly version: string;
  readonly nodeAccess: { check(): Health['checks']['access'] };
  /** Reason why the web server does not listen; null = it listens. */
  readonly web: { trouble(): string | null };
}

/** State of each part that can fail while others work. */
export function nodeHealth(parts: HealthParts): Health['checks'] {
  const { claim, clockFloor, clock, configuration, version } = parts;
  const others = { inTrouble: claim.othersInTrouble(), otherVersions: claim.otherVersions(), version };
  return {
    dns: dnsCheck(parts.supervisor),
    database: databaseCheck(parts.database, parts.logTrouble() ?? parts.dayExport.trouble()),
    upstreams: upstreamsCheck(parts.supervisor.upstreams()),
    filters: filtersCheck(parts.publisher),
    nodes: nodesCheck(others),
    clock: clockCheck(clockFloor.trouble(), claim.aheadMs()),
    access: parts.nodeAccess.check(),
    web: webCheck(parts.web),
    certificates: certificatesCheck(parts.certificates(), clock.nowMs()),
    disk: diskCheck(parts.disk.now(), parts.writer.spoolLimitBytes),
    configuration: configurationCheck(configuration.reloadFault()),
    privileges: privilegesCheck(process.geteuid?.()),
  };
}

function webCheck(web: HealthParts['web']): Health['checks']['web'] {
  const detail = web.trouble();
  return detail === null ? { status: 'ok' } : { status: 'down', detail };
}

function configurationCheck(fault: string | null): Health['checks']['configuration'] {
  if (fault === null) return { status: 'ok' };
  return {
    status: 'degraded',
    detail: `the last reload failed; the previous configuration is active: ${fault}`,
  };
}

function dnsCheck(supervisor: WorkerSupervisor): Health['checks']['dns'] {
  const { answering, workers, restarts } = supervisor.state();
  const detail = `${String(answering)} of ${String(workers)} workers answer, ${String(restarts)} threads were replaced`;
  if (answering === 0) return { status: 'down', detail };
  if (answering < workers) return { status: 'degraded', detail };
  // The faults are over, but users should still know about them.
  return restarts > 0 ? { status: 'ok', detail } : { status: 'ok' };
}

/** Text that follows the name of a server. */
const OLD_PRIMARY =
  'is an old primary that still accepts changes; stop it, or make it a standby, before other programs ' +
  'use it';

/** State of the database, of the log in it, and of its role. */
export function databaseCheck(
  database: Pick<Database, 'status'>,
  logTrouble: string | null,
): Health['checks']['database'] {
  const { state, error, upgrade, excess, refusal, oldPrimaries = [] } = database.status();
  if (state === 'up') {
    const troubles = [
      refusal === undefined ? null : `new connections cannot be opened: ${refusal}`,
      oldPrimaries.length === 0 ? null : `${oldPrimaries.join(', ')} ${OLD_PRIMARY}`,
      logTrouble,
      upgrade?.isStuck === true ? upgrade.detail : null,
    ].filter((trouble) => trouble !== null);
    if (troubles.length > 0) return { status: 'degraded', detail: troubles.join('; ') };
    const detail = upgrade?.detail ?? excess;
    return { status: 'ok', ...(detail === undefined ? {} : { detail }) };
  }
  if (state === 'starting') return { status: 'degraded', detail: upgrade?.detail ?? 'starting' };
  return {
    status: 'degraded',
    detail: `down; DNS queries are answered with the last known policy: ${error ?? 'reason unknown'}`,
  };
}

/**
 * State of the servers of all pools. Unreachable servers of a forward zone are listed but do not degrade the node.
 * `reports`: one for each worker.
 */
export function upstreamsCheck(reports: readonly UpstreamReports[]): Health['checks']['upstreams'] {
  const pools = reports.flatMap((report) => report.pools);
  const unhealthy = unhealthyAmong(pools, ({ address }) => address);
  const unsigned = distinct(
    pools.filter(({ removesSignatures }) => removesSignatures),
    ({ address }) => address,
  );
  const ofZones = unhealthyAmong(
    reports.flatMap((report) => report.zones),
    ({ address, poolName }) => `${address} of ${poolName}`,
  );
  const faults = [
    ...(unhealthy.length === 0 ? [] : [`unhealthy: ${unhealthy.join(', ')}`]),
    ...(unsigned.length === 0 ? [] : [`without DNSSEC signatures: ${unsigned.join(', ')}`]),
    ...(ofZones.length === 0 ? [] : [`forward zones: unhealthy: ${ofZones.join(', ')}`]),
  ];
  const detail = faults.length === 0 ? {} : { detail: faults.join('; ') };
  if (unhealthy.length === 0) return { status: unsigned.length === 0 ? 'ok' : 'degraded', ...detail };
  const anyLeft = pools.some(({ status }) => status !== 'Unhealthy');
  return { status: anyLeft ? 'degraded' : 'down', ...detail };
}

function unhealthyAmong(
  reports: readonly UpstreamReport[],
  nameOf: (report: UpstreamReport) => string,
): string[] {
  return distinct(
    reports.filter(({ status }) => status === 'Unhealthy'),
    nameOf,
  );
}

function distinct(reports: readonly UpstreamReport[], nameOf: (report: UpstreamReport) => string): string[] {
  return [...new Set(reports.map(nameOf))];
}

/** Maximum number of lists that the detail of the check names. */
const MAX_LISTS = 5;

/** Degraded while an enabled list is not part of the compiled filter, or its latest version could not be used. */
export function filtersCheck(publisher: Pick<SnapshotPublisher, 'current'>): Health['checks']['filters'] {
  const { compiled, rows } = publisher.current();
  const active = compiled.sources.filter(({ statistics }) => statistics.fault === null).map(({ id }) => id);
  const inactive = rows.sources.filter(({ id, enabled }) => enabled && !active.includes(id));
  if (inactive.length === 0) return { status: 'ok' };
  const names = inactive.slice(0, MAX_LISTS).map(({ name }) => name);
  const rest = inactive.length - names.length;
  return {
    status: 'degraded',
    detail: `not active: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`,
  };
}

/** Milliseconds by which the clocks of a node and of the database may differ. */
const CLOCK_MS = 2000;

/** Known facts about the other nodes. */
interface OtherNodes {
  /** Nodes whose heartbeat is missing or whose policy is older. */
  readonly inTrouble: readonly TroubledNode[];
  /** Running nodes whose version differs from this node's. */
  readonly otherVersions: readonly { readonly node: string; readonly version: string }[];
  /** Version of this node. */
  readonly version: string;
}

/** Degraded while the heartbeat of another node is missing, its policy is older, or it runs another version. */
export function nodesCheck({ inTrouble, otherVersions, version }: OtherNodes): HealthCheck {
  const faults = inTrouble.map(
    ({ node, isSilent }) => `${node} ${isSilent ? 'is silent' : 'has an older policy'}`,
  );
  const others = otherVersions.map((other) => `${other.node} runs ${other.version}`);
  if (others.length > 0) faults.push(`versions differ: ${others.join(', ')}, this node ${version}`);
  return faults.length === 0 ? { status: 'ok' } : { status: 'degraded', detail: faults.join(', ') };
}

/** Degraded while the clock is wrong, or differs from the clock of the database; `aheadMs` null = unknown. */
export function clockCheck(trouble: string | null, aheadMs: number | null): HealthCheck {
  if (trouble !== null) return { status: 'degraded', detail: trouble };
  if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_MS) return { status: 'ok' };
  const secs = (Math.abs(aheadMs) / 1000).toFixed(1);
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  return { status: 'degraded', detail: `the clock is ${secs} s ${side} that of the database` };
}

/** Always ok: if the process stays root, the detail and the log explain why. */
export function privilegesCheck(userId: number | undefined): HealthCheck {
  if (userId !== 0) return { status: 'ok' };
  return { status: 'ok', detail: 'Weir runs as root; its log has the reason, and what to do' };
}
