/** Rules that concern several keys of `server.acme`. */
/** The keys to which the rules apply. */
interface AcmeKeys {
  readonly directory_url: string;
  readonly names: readonly string[];
  readonly challenge: 'http-01' | 'dns-01';
  readonly dns_server: string;
  readonly tsig_name: string;
  readonly tsig_key_file: string;
}

/** A key whose value contradicts the values of other keys. */
export interface AcmeFault {
  readonly key: keyof AcmeKeys;
  /** The expected value. */
  readonly expected: string;
}

/** Finds keys whose values contradict those of other keys. */
export function acmeFaults(acme: AcmeKeys): AcmeFault[] {
  const faults: AcmeFault[] = [];
  const fault = (key: keyof AcmeKeys, expected: string): void => void faults.push({ key, expected });
  if (!acme.directory_url.startsWith('https://')) fault('directory_url', 'an https:// URL');
  if ((acme.tsig_name === '') !== (acme.tsig_key_file === ''))
    fault('tsig_name', 'server.acme.tsig_key_file with it, or neither');
  if (acme.names.length === 0) return faults;
  if (acme.challenge === 'http-01' && acme.names.some((name) => name.startsWith('*.')))
    fault('challenge', 'dns-01, which wildcard names require');
  if (acme.challenge === 'dns-01' && acme.dns_server === '')
    fault('dns_server', 'the primary server of the zone, which dns-01 requires');
  return faults;
}
