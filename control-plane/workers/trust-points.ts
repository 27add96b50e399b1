/**
 * Builds the trust anchors of the resolve threads from the configuration, its anchor file, and the keys found since.
 */
import { readFileSync } from 'node:fs';
import type { Config } from '../../config/schema.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { readTrustAnchors, rootTrustAnchors } from '../../shared/dns/trust-anchors.ts';
import { systemClock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import { AnchorKeeper } from '../trust-anchors/anchor-keeper.ts';
import type { WorkerSupervisor } from './supervisor.ts';

/** The keys of the configuration that say what is trusted. */
type Anchored = Pick<Config['dns'], 'dnssec_trust_anchors' | 'dnssec_negative_trust_anchors'>;

/** Reads the anchors; throws if the file cannot be read or holds anything but DS and DNSKEY records. */
export function trustPoints(dns: Anchored): NonNullable<WorkerSettings['dnssec']> {
  const path = dns.dnssec_trust_anchors;
  const anchors = path === '' ? rootTrustAnchors() : readTrustAnchors(readFileSync(path, 'utf8'));
  const negativeAnchors = dns.dnssec_negative_trust_anchors
    .map((domain) => nameFromText(domain))
    .filter((name) => name !== null);
  return { anchors, negativeAnchors };
}

/** Settings with the current anchors, and their keeper; null if nothing is validated. */
export async function withAnchorsFound(
  { config, dataDir, logger }: { config: Config; dataDir: string; logger: Logger },
  settings: WorkerSettings,
): Promise<{ settings: WorkerSettings; anchors: AnchorKeeper | null }> {
  const { dnssec } = settings;
  if (dnssec === null) return { settings, anchors: null };
  const { dnssec_anchor_updates: updates, dnssec_trust_anchors: file } = config.dns;
  const keeper = await AnchorKeeper.open({
    anchors: dnssec.anchors,
    isFollowing: updates === 'all' || (updates === 'builtin' && file === ''),
    dataDir,
    clock: systemClock,
    logger,
  });
  return { settings: { ...settings, dnssec: { ...dnssec, anchors: keeper.anchors() } }, anchors: keeper };
}

/** Starts checks of the keys of the anchors' zones; returns a function that stops them. */
export function followAnchors(
  keeper: AnchorKeeper | null,
  supervisor: WorkerSupervisor,
): () => Promise<void> {
  keeper?.start({
    observe: (zone) => supervisor.requests.observe(zone),
    trust: (anchors) => supervisor.trust(anchors),
  });
  return async () => keeper?.close();
}
