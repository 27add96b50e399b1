/** SQL of `dns_settings`: settings made through the API, which override the configuration. */
import type { DnsSettingsChange } from '../../shared/api/settings-api.ts';
import type { Queryable } from '../db/database.ts';
import type { WrittenDnsSettings } from '../policy/rows.ts';
import { NO_DNS_SETTINGS } from '../policy/rows.ts';

const COLUMNS = `never_forward_non_fqdn AS "neverForwardNonFqdn",
  never_forward_reverse_lookups AS "neverForwardReverseLookups",
  local_domain AS "localDomain", local_dns_server AS "localDnsServer"`;

/** What was set; null if nothing was. */
export async function readWrittenSettings(db: Queryable): Promise<WrittenDnsSettings> {
  const { rows } = await db.query<WrittenDnsSettings>(`SELECT ${COLUMNS} FROM dns_settings`);
  return rows[0] ?? NO_DNS_SETTINGS;
}

/** Sets the given fields. */
export async function writeSettings(db: Queryable, change: DnsSettingsChange): Promise<WrittenDnsSettings> {
  const { rows } = await db.query<WrittenDnsSettings>(
    `INSERT INTO dns_settings AS s
       (never_forward_non_fqdn, never_forward_reverse_lookups, local_domain, local_dns_server)
     VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET
       never_forward_non_fqdn = coalesce($1, s.never_forward_non_fqdn),
       never_forward_reverse_lookups = coalesce($2, s.never_forward_reverse_lookups),
       local_domain = coalesce($3, s.local_domain),
       local_dns_server = coalesce($4, s.local_dns_server)
     RETURNING ${COLUMNS}`,
    [
      change.never_forward_non_fqdn,
      change.never_forward_reverse_lookups,
      change.local_domain,
      change.local_dns_server,
    ],
  );
  return rows[0]!;
}
