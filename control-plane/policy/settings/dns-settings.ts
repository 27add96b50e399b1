/** Settings for names of the local network, which are four keys of the configuration. */
import type { Config } from '../../../config/schema.ts';
import type { DnsSettings } from '../../../shared/api/settings-api.ts';
import { QuestionFlag } from '../../../shared/snapshot/policy-table.ts';

/** The four fields of the API. */
export function dnsSettings({ dns }: Pick<Config, 'dns'>): DnsSettings {
  const { never_forward_non_fqdn, never_forward_reverse_lookups, local_domain, local_dns_server } = dns;
  return { never_forward_non_fqdn, never_forward_reverse_lookups, local_domain, local_dns_server };
}

/** `QuestionFlag` bits of the settings. */
export function settingsFlags(settings: DnsSettings): number {
  return (
    (settings.never_forward_non_fqdn ? QuestionFlag.NEVER_FORWARD_NON_FQDN : 0) |
    (settings.never_forward_reverse_lookups ? QuestionFlag.NEVER_FORWARD_REVERSE : 0)
  );
}
