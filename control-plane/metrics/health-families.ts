/** Metrics of the health checks that have no other metrics: certificates, disk, clock, versions, database, reload. */
import type { NodeClaim } from '../storage/cluster/node-claim.ts';
import type { Database } from '../storage/db/database.ts';
import type { UsedCertificate } from './checks/certificate-check.ts';
import type { DiskSpace } from './checks/disk-space.ts';
import type { Configuration } from '../policy/settings/configuration.ts';
import { type Family, family, single } from './family.ts';

/** Readers for the values of these metrics. */
export interface HealthReads {
  readonly claim: Pick<NodeClaim, 'aheadMs' | 'otherVersions'>;
  readonly configuration: Pick<Configuration, 'reloadFault'>;
  readonly certificates: () => readonly UsedCertificate[];
  readonly disk: Pick<DiskSpace, 'now'>;
  readonly database: Pick<Database, 'status'>;
}

/** Families of the node's health. */
export function healthFamilies({
  claim,
  configuration,
  certificates,
  disk,
  database,
}: HealthReads): Family[] {
  const gauge = (name: string, help: string, read: () => number | null): Family =>
    single('gauge', name, help, read);
  return [
    family(
      'gauge',
      'weir_certificate_expiry_timestamp_seconds',
      'When the certificate in use expires, Unix time; web or dns',
      ['use'],
      () =>
        certificates().map(({ use, notAfter }) => ({ labels: { use }, value: notAfter.getTime() / 1000 })),
    ),
    family(
      'gauge',
      'weir_certificate_refused',
      '1 = the configured files cannot be used, and an earlier or self-signed certificate is in use; web or dns',
      ['use'],
      () => certificates().map(({ use, fault }) => ({ labels: { use }, value: fault === null ? 0 : 1 })),
    ),
    family(
      'gauge',
      'weir_certificate_renewal_failed',
      '1 = the certificate in use could not be renewed by ACME; web or dns',
      ['use'],
      () =>
        certificates().map(({ use, renewalFault }) => ({
          labels: { use },
          value: renewalFault === undefined ? 0 : 1,
        })),
    ),
    gauge(
      'weir_data_dir_free_bytes',
      'Free space of the disk with the data directory',
      () => disk.now()?.freeBytes ?? null,
    ),
    gauge(
      'weir_data_dir_size_bytes',
      'Size of the disk with the data directory',
      () => disk.now()?.sizeBytes ?? null,
    ),
    gauge(
      'weir_clock_offset_seconds',
      'Seconds by which the clock is ahead of the clock of the database',
      () => {
        const aheadMs = claim.aheadMs();
        return aheadMs === null ? null : aheadMs / 1000;
      },
    ),
    gauge(
      'weir_cluster_versions',
      'Number of different versions among the running nodes of the cluster',
      () => new Set(claim.otherVersions().map(({ version }) => version)).size + 1,
    ),
    gauge(
      'weir_database_refuses_connections',
      '1 = the database works, but accepts no new connections',
      () => (database.status().refusal === undefined ? 0 : 1),
    ),
    gauge(
      'weir_database_old_primaries',
      'Servers in database.url that still accept changes although another server has replaced them',
      () => database.status().oldPrimaries?.length ?? 0,
    ),
    gauge('weir_config_reload_failed', '1 = the last reload of the configuration failed', () =>
      configuration.reloadFault() === null ? 0 : 1,
    ),
  ];
}
