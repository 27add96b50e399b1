/** What `/health` says of this node, from memory only: asking it must never wait for anything. */
import type { Health } from '../../shared/api/system.ts';
import type { Database } from '../db/database.ts';
import type { SnapshotPublisher } from '../snapshot/publisher.ts';
import type { WorkerSupervisor } from '../workers/supervisor.ts';

/** The parts whose state is told. */
export interface HealthParts {
  readonly supervisor: WorkerSupervisor;
  readonly database: Database;
  readonly publisher: SnapshotPublisher;
  /** Why rows of the query log cannot be stored; null = they can. */
  readonly logTrouble: () => string | null;
}

/** State of DNS, database, upstreams and filters. */
export function nodeHealth(parts: HealthParts): Health['checks'] {
  return {
    dns: dnsCheck(parts.supervisor),
    database: databaseCheck(parts.database, parts.logTrouble()),
    upstreams: upstreamsCheck(parts.supervisor),
    filters: filtersCheck(parts.publisher),
  };
}

function dnsCheck(supervisor: WorkerSupervisor): Health['checks']['dns'] {
  const { answering, workers, restarts } = supervisor.state();
  const detail = `${String(answering)} of ${String(workers)} workers answer, ${String(restarts)} threads were replaced`;
  if (answering === 0) return { status: 'down', detail };
  if (answering < workers) return { status: 'degraded', detail };
  // Nothing is wrong any more, but a person should hear that something was.
  return restarts > 0 ? { status: 'ok', detail } : { status: 'ok' };
}

function databaseCheck(database: Database, logTrouble: string | null): Health['checks']['database'] {
  const { state, error } = database.status();
  if (state === 'up')
    return logTrouble === null ? { status: 'ok' } : { status: 'degraded', detail: logTrouble };
  if (state === 'starting') return { status: 'degraded', detail: 'starting' };
  return {
    status: 'degraded',
    detail: `down, DNS answers from the last known policy: ${error ?? 'no reason known'}`,
  };
}

function upstreamsCheck(supervisor: WorkerSupervisor): Health['checks']['upstreams'] {
  const reports = supervisor.upstreams().flat();
  const unhealthy = [
    ...new Set(reports.filter(({ status }) => status === 'Unhealthy').map(({ address }) => address)),
  ];
  if (unhealthy.length === 0) return { status: 'ok' };
  const anyLeft = reports.some(({ status }) => status !== 'Unhealthy');
  return { status: anyLeft ? 'degraded' : 'down', detail: `unhealthy: ${unhealthy.join(', ')}` };
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
