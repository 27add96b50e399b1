/**
 * Names under which a phone reaches encrypted DNS with its client key, from the certificate and the configuration.
 * Pure.
 */
import { isIP } from 'node:net';
import type { Config } from '../../../config/schema.ts';
import type { PhoneSetup } from '../../../shared/api/phones/phone-setup-api.ts';
import { DOH_PATH } from '../../../shared/dns/doh-target.ts';
import { admitsKey } from '../../../shared/policy/access.ts';
import type { CertificateFacts } from '../tls/certificate-pair.ts';

/** The only port that Private DNS on Android and Apple's profiles for DNS over TLS support. */
const DOT_PORT = 853;
const HTTPS_PORT = 443;

/** Names for one key, and their problems. */
export type PhoneNames = Pick<PhoneSetup, 'private_dns_name' | 'doh_url' | 'problems'>;

/** The names for a key; `facts` are those of the certificate of encrypted DNS, null = there is none. */
export function phoneNames(
  key: string,
  facts: CertificateFacts | null,
  { server: { encrypted_dns: encrypted }, dns: { allowed_clients: allowed } }: Settings,
  nowMs: number,
): PhoneNames {
  const { dot_enabled: hasDot, dot_port: dotPort, doh_enabled: hasDoh, doh_port: dohPort } = encrypted;
  const none = { private_dns_name: null, doh_url: null };
  if (!hasDot && !hasDoh) return { ...none, problems: ['encrypted_dns_disabled'] };
  if (facts === null) return { ...none, problems: ['no_certificate'] };
  const wildcard = facts.names.find((name) => name.startsWith('*.'))?.slice(2) ?? null;
  const host = hostIn(facts.names, wildcard);
  const problems: PhoneSetup['problems'] = [];
  if (facts.notAfter.getTime() < nowMs) problems.push('certificate_expired');
  if (facts.isSelfSigned) problems.push('self_signed');
  if (hasDot && wildcard === null) problems.push('no_wildcard_name');
  if (hasDoh && host === null) problems.push('no_host_name');
  if (hasDot && dotPort !== DOT_PORT) problems.push('dot_port_not_853');
  if (!allowed.includes('any') && !admitsKey(key)) problems.push('key_not_random');
  const port = dohPort === HTTPS_PORT ? '' : `:${dohPort}`;
  return {
    private_dns_name: hasDot && wildcard !== null ? `${key}.${wildcard}` : null,
    doh_url: hasDoh && host !== null ? `https://${host}${port}${DOH_PATH}/${key}` : null,
    problems,
  };
}

/** The settings that determine the names. */
interface Settings {
  readonly server: Pick<Config['server'], 'encrypted_dns'>;
  readonly dns: Pick<Config['dns'], 'allowed_clients'>;
}

/** The host for HTTPS: the parent of the wildcard if the certificate has one; if not, its first name with a dot. */
function hostIn(names: readonly string[], wildcard: string | null): string | null {
  const hosts = names.filter((name) => name.includes('.') && !name.startsWith('*.') && isIP(name) === 0);
  return hosts.find((name) => name === wildcard) ?? hosts[0] ?? null;
}
