/** Settings of the embedded server for a small machine: little memory, few processes, a log that is mostly written. */

/** Settings as for `postgres -c name=value`. */
export type PostgresSettings = Readonly<Record<string, string | number>>;

const SETTINGS: PostgresSettings = {
  shared_buffers: '32MB',
  max_connections: 30,
  superuser_reserved_connections: 2,
  wal_level: 'minimal',
  max_wal_senders: 0,
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  checkpoint_timeout: '15min',
  // Checkpoints and sessions also write pages; the background writer would wake up five times per second.
  bgwriter_lru_maxpages: 0,
  bgwriter_delay: '10s',
  max_worker_processes: 2,
  max_logical_replication_workers: 0,
  // A parallel worker would have the priority of the server, not the lower priority of the long read for which it
  // works.
  max_parallel_workers: 0,
  autovacuum_max_workers: 1,
  maintenance_work_mem: '32MB',
  work_mem: '8MB',
  effective_cache_size: '128MB',
  random_page_cost: 1.1,
  huge_pages: 'off',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '',
  log_checkpoints: 'off',
  log_destination: 'stderr',
  logging_collector: 'off',
};

/** Settings that only newer servers support, by the major version that introduced them. */
const SINCE: Readonly<Record<number, PostgresSettings>> = {
  18: { io_method: 'sync', autovacuum_worker_slots: 2 },
};

/** The settings for a server of this major version. */
export function settingsOf(major: number): PostgresSettings {
  const known = Object.entries(SINCE).filter(([since]) => major >= Number(since));
  return Object.assign({}, SETTINGS, ...known.map(([, settings]) => settings)) as PostgresSettings;
}
