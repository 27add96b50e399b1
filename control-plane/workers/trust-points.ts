/** From the configuration of DNSSEC, and the file it may name, to what the resolve threads validate with. */
import { readFileSync } from 'node:fs';
import type { Config } from '../../config/schema.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { readTrustAnchors, rootTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import type { WorkerSettings } from '../../shared/messages.ts';

/** The keys of the configuration that say what is trusted. */
type Anchored = Pick<Config['dns'], 'dnssec_trust_anchors' | 'dnssec_negative_trust_anchors'>;

/** Reads the anchors; throws where the file cannot be read or holds anything but DS and DNSKEY records. */
export function trustPoints(dns: Anchored): NonNullable<WorkerSettings['dnssec']> {
  const path = dns.dnssec_trust_anchors;
  const anchors = path === '' ? rootTrustAnchors() : readTrustAnchors(readFileSync(path, 'utf8'));
  const negativeAnchors = dns.dnssec_negative_trust_anchors
    .map((domain) => nameFromText(domain))
    .filter((name) => name !== null);
  return { anchors, negativeAnchors };
}
