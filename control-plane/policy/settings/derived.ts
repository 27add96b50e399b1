/** Settings that are derived from the configuration. */
import { hostname } from 'node:os';
import type { Config } from '../../../config/schema.ts';
import { readLocalRecordLine, type WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import { QuestionFlag } from '../../../shared/snapshot/policy-table.ts';
import type { BlockingSettings } from '../change/blocking-settings.ts';
import type { LeaseName } from '../change/runtime-state.ts';

/** Name of this node: `server.node_name`, or the host's. */
export function nodeNameOf(config: Config): string {
  return config.server.node_name === '' ? hostname() : config.server.node_name;
}

/** Settings that determine how blocked queries are answered. */
export function blockingSettings({ blocking }: Config): BlockingSettings {
  return {
    enabled: blocking.enabled,
    mode: blocking.mode,
    ttlSecs: blocking.ttl_secs,
    customIpv4: blocking.custom_ipv4,
    customIpv6: blocking.custom_ipv6,
  };
}

/** Local records of the configuration; invalid records were already rejected by the check of the key. */
export function configRecords({ dns }: Config): WrittenLocalRecord[] {
  return dns.local_records.map(readLocalRecordLine).filter((record) => typeof record !== 'string');
}

/** The host name at which programs for Pi-hole's API expect the server. */
export const COMPAT_NAME = 'pi.hole';

/** Names of DHCP leases: a bare host name gets the suffix `localDomain`, if there is one. */
export function leaseNames(
  leases: readonly { readonly address: string; readonly hostname: string }[],
  localDomain: string,
): LeaseName[] {
  const suffix = localDomain === '' ? '' : `.${localDomain}`;
  return leases.map(({ address, hostname }) => ({
    address,
    fqdn: hostname.includes('.') ? hostname : `${hostname}${suffix}`,
  }));
}

/** `QuestionFlag` bits of the configuration. */
export function questionFlags({ dns }: Config): number {
  return (
    (dns.block_private_ptr ? QuestionFlag.BLOCK_PRIVATE_PTR : 0) |
    (dns.block_non_fqdn ? QuestionFlag.BLOCK_NON_FQDN : 0) |
    (dns.special_names ? QuestionFlag.SPECIAL_NAMES : 0) |
    (dns.block_doh_canary ? QuestionFlag.DOH_CANARY : 0) |
    (dns.block_private_relay ? QuestionFlag.PRIVATE_RELAY_CANARY : 0)
  );
}
