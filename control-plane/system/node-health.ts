/** The state of this node for `/health`, from memory only: it must never wait. */
import type { Health } from '../../shared/api/system-api.ts';
import type { UpstreamReport, UpstreamReports } from '../../shared/threads/messages.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ClockFloor } from '../clock/clock-floor.ts';
import type { NodeClaim } from '../cluster/node-claim.ts';
import type { Database } from '../db/database.ts';
import type { DayExport } from '../query-log/nightly/day-export.ts';
import type { SnapshotPublisher } from '../snapshot/publish/publisher.ts';
import type { WorkerSupervisor } from '../workers/supervisor.ts';
import { uptimeSecs } from './uptime.ts';

/** What is said of a node with its health. */
export interface NamedNode {
  readonly version: string;
  /** `server.node_name`. */
  readonly nodeName: string;
  readonly clock: Clock;
  /** `clock.monotonicMs()` when the node started. */
  readonly startedAtMs: number;
}

/** The node as its checks describe it. */
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

/** The parts whose state is reported. */
export interface HealthParts {
  readonly supervisor: WorkerSupervisor;
  readonly database: Database;
  readonly publisher: SnapshotPublisher;
  /** Why rows of the query log cannot be stored; null = they can. */
  readonly logTrouble: () => string | null;
  /** Finished days of it as files. */
  readonly dayExport: Pick<DayExport, 'trouble'>;
  readonly claim: Pick<NodeClaim, 'othersInTrouble'>;
  readonly clockFloor: Pick<ClockFloor, 'trouble'>;
  readonly access: () => Health['checks']['access'];
}

/** State of DNS, database, upstreams, filters, the other nodes, the clock, and who may ask. */
export function nodeHealth(parts: HealthParts): Health['checks'] {
  return {
    dns: dnsCheck(parts.supervisor),
    database: databaseCheck(parts.database, parts.logTrouble() ?? parts.dayExport.trouble()),
    upstreams: upstreamsCheck(parts.supervisor.upstreams()),
    filters: filtersCheck(parts.publisher),
    nodes: nodesCheck(parts.claim),
    clock: clockCheck(parts.clockFloor),
    access: parts.access(),
  };
}

function clockCheck(clockFloor: HealthParts['clockFloor']): Health['checks']['clock'] {
  const detail = clockFloor.trouble();
  return detail === null ? { status: 'ok' } : { status: 'degraded', detail };
}

function dnsCheck(supervisor: WorkerSupervisor): Health['checks']['dns'] {
  const { answering, workers, restarts } = supervisor.state();
  const detail = `${String(answering)} of ${String(workers)} workers answer, ${String(restarts)} threads were replaced`;
  if (answering === 0) return { status: 'down', detail };
  if (answering < workers) return { status: 'degraded', detail };
  // Resolved faults that a person should still know about.
  return restarts > 0 ? { status: 'ok', detail } : { status: 'ok' };
}

/** State of the database, of the log in it, and of the role that asks it. */
export function databaseCheck(
  database: Pick<Database, 'status'>,
  logTrouble: string | null,
): Health['checks']['database'] {
  const { state, error, upgrade, excess } = database.status();
  if (state === 'up') {
    const trouble = logTrouble ?? (upgrade?.isStuck === true ? upgrade.detail : null);
    if (trouble !== null) return { status: 'degraded', detail: trouble };
    const detail = upgrade?.detail ?? excess;
    return { status: 'ok', ...(detail === undefined ? {} : { detail }) };
  }
  if (state === 'starting') return { status: 'degraded', detail: upgrade?.detail ?? 'starting' };
  return {
    status: 'degraded',
    detail: `down, DNS answers from the last known policy: ${error ?? 'no reason known'}`,
  };
}

/**
 * State of the pools' servers. Unreachable servers of a forward zone are listed but do not degrade the node. `reports`:
 * one per worker.
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
  const told = [
    ...(unhealthy.length === 0 ? [] : [`unhealthy: ${unhealthy.join(', ')}`]),
    ...(unsigned.length === 0 ? [] : [`without DNSSEC signatures: ${unsigned.join(', ')}`]),
    ...(ofZones.length === 0 ? [] : [`forward zones: unhealthy: ${ofZones.join(', ')}`]),
  ];
  const detail = told.length === 0 ? {} : { detail: told.join('; ') };
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

/** Other nodes that are in trouble: theirs is the sentence that somebody else should read. */
function nodesCheck(claim: HealthParts['claim']): Health['checks']['nodes'] {
  const others = claim.othersInTrouble();
  if (others.length === 0) return { status: 'ok' };
  const told = others.map(
    ({ node, isSilent }) => `${node} ${isSilent ? 'is silent' : 'has an older policy'}`,
  );
  return { status: 'degraded', detail: told.join(', ') };
}

function filtersCheck(publisher: SnapshotPublisher): Health['checks']['filters'] {
  const { compiled, rows } = publisher.current();
  const enabled = rows.sources.filter((source) => source.enabled).map(({ id }) => id);
  const faulty = compiled.sources.filter(
    ({ id, statistics }) => enabled.includes(id) && statistics.fault !== null,
  );
  const missing = enabled.length - compiled.sources.filter(({ id }) => enabled.includes(id)).length;
  if (faulty.length === 0 && missing === 0) return { status: 'ok' };
  return {
    status: 'degraded',
    detail: `${String(faulty.length + missing)} enabled sources are not in force`,
  };
}
