/** Settings in use in AdGuard Home that have no equivalent in Weir. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { AdguardSettings } from './adguard-settings.ts';

/** Sections about AdGuard Home itself. */
const OF_PROGRAM = [
  'http',
  'auth_attempts',
  'block_auth_min',
  'http_proxy',
  'language',
  'theme',
  'log',
  'os',
];
const CLOUD = importReason('adguard_cloud');

/** Reports these settings. */
export function reportUnmapped(builder: PlanBuilder, { dns, filtering, file }: AdguardSettings): void {
  const report = (isUsed: boolean, name: string, reason: ImportReason): void => {
    if (isUsed) builder.notMapped('other', name, reason);
  };
  const isOn = (tree: ForeignTree, key: string): boolean => tree.flag(key) === true;
  const isGiven = (key: string): boolean => dns.list(key).length > 0 || (dns.text(key) ?? '') !== '';
  report(isOn(filtering, 'safebrowsing_enabled'), 'safe browsing', CLOUD);
  report(isOn(filtering, 'parental_enabled'), 'parental control', CLOUD);
  report(isGiven('ipset'), 'dns.ipset', importReason('adguard_ipsets'));
  report(isGiven('ipset_file'), 'dns.ipset_file', importReason('adguard_ipsets'));
  report(isOn(dns, 'use_dns64'), 'dns.use_dns64', importReason('no_doh_ipv6_synthesis'));
  report(isOn(dns, 'hostsfile_enabled'), 'dns.hostsfile_enabled', importReason('adguard_hosts_file'));
  report(dns.flag('use_http3_upstreams') === true, 'dns.use_http3_upstreams', importReason('adguard_http2'));
  report(isOn(file, 'dhcp.enabled'), itemName('dhcp'), importReason('no_dhcp'));
  report(isOn(file, 'tls.enabled'), 'encrypted DNS and HTTPS', importReason('adguard_tls'));
  report(file.list('users').length > 0, 'users', importReason('adguard_passwords'));
  const program = OF_PROGRAM.filter((section) => file.has(section));
  if (program.length > 0) builder.skipped('other', program.join(', '), importReason('adguard_own'));
}
