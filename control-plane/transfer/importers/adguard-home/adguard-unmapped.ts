/** Settings in use in AdGuard Home that have no equivalent in Weir. Pure. */
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
const CLOUD = 'it queries a cloud service; add lists of such names instead';

/** Reports them. */
export function reportUnmapped(builder: PlanBuilder, { dns, filtering, file }: AdguardSettings): void {
  const report = (isUsed: boolean, name: string, reason: string): void => {
    if (isUsed) builder.notMapped('other', name, reason);
  };
  const isOn = (tree: ForeignTree, key: string): boolean => tree.flag(key) === true;
  const isGiven = (key: string): boolean => dns.list(key).length > 0 || (dns.text(key) ?? '') !== '';
  report(isOn(filtering, 'safebrowsing_enabled'), 'safe browsing', CLOUD);
  report(isOn(filtering, 'parental_enabled'), 'parental control', CLOUD);
  report(isGiven('ipset'), 'dns.ipset', 'Weir does not fill ipsets');
  report(isGiven('ipset_file'), 'dns.ipset_file', 'Weir does not fill ipsets');
  report(isOn(dns, 'use_dns64'), 'dns.use_dns64', 'Weir does not synthesize IPv6 addresses');
  report(
    isOn(dns, 'hostsfile_enabled'),
    'dns.hostsfile_enabled',
    'AdGuard Home also answers names in /etc/hosts of its machine, which is not in the export: also import that file if it has names of your network',
  );
  report(dns.flag('use_http3_upstreams') === true, 'dns.use_http3_upstreams', 'Weir uses HTTP/2');
  report(isOn(file, 'dhcp.enabled'), 'DHCP server', 'Weir is not a DHCP server');
  report(
    isOn(file, 'tls.enabled'),
    'encrypted DNS and HTTPS',
    'certificates and keys are not imported: see server.encrypted_dns',
  );
  report(file.list('users').length > 0, 'users', 'passwords are not imported');
  const program = OF_PROGRAM.filter((section) => file.has(section));
  if (program.length > 0)
    builder.skipped(
      'other',
      program.join(', '),
      "concerns only AdGuard Home's own web interface and process",
    );
}
