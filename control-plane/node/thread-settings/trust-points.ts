/**
 * Provides the trust anchors of the resolve threads: those of the configuration and its anchor file, and newer keys of
 * their zones.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../../config/schema.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { readTrustAnchors, rootTrustAnchors } from '../../../shared/dns/trust-anchors.ts';
import type { TrustAnchor } from '../../../shared/dns/trust-anchors.ts';
import type { WorkerSettings } from '../../../shared/threads/messages.ts';
import { readRegularFile } from '../../host/files/regular-file.ts';
import { AnchorKeeper } from '../../resolving/trust-anchors/anchor-keeper.ts';
import type { AnchorKeeperParts, Validators } from '../../resolving/trust-anchors/anchor-keeper.ts';

/** The configuration keys that define trust. */
type Anchored = Pick<Config['dns'], 'dnssec_trust_anchors' | 'dnssec_negative_trust_anchors'>;

/** Reads the anchors; throws if the file cannot be read or contains anything except DS and DNSKEY records. */
export function trustPoints(dns: Anchored): NonNullable<WorkerSettings['dnssec']> {
  const path = dns.dnssec_trust_anchors;
  const anchors = path === '' ? rootTrustAnchors() : readTrustAnchors(readRegularFile(path));
  const negativeAnchors = dns.dnssec_negative_trust_anchors
    .map((domain) => nameFromText(domain))
    .filter((name) => name !== null);
  return { anchors, negativeAnchors };
}

/** Configured trust anchors, and whether their updates are followed. */
interface Followed {
  readonly anchors: readonly TrustAnchor[];
  readonly isFollowing: boolean;
}

/** The active trust anchors: the configured ones, and their updates (RFC 5011). One per node. */
export class FollowedAnchors {
  private readonly parts: Omit<AnchorKeeperParts, 'anchors' | 'isFollowing'>;
  private configured: Followed | null = null;
  private keeper: AnchorKeeper | null = null;
  private started: AnchorKeeper | null = null;

  constructor(parts: Omit<AnchorKeeperParts, 'anchors' | 'isFollowing'>) {
    this.parts = parts;
  }

  /**
   * Adds the trust anchors known so far to the settings. If the configured anchors have not changed, they are followed
   * without a restart.
   */
  async addTo(settings: WorkerSettings, { dns }: Config): Promise<WorkerSettings> {
    const { dnssec } = settings;
    const { dnssec_anchor_updates: updates, dnssec_trust_anchors: file } = dns;
    const isFollowing = updates === 'all' || (updates === 'builtin' && file === '');
    const wanted = dnssec === null ? null : { anchors: dnssec.anchors, isFollowing };
    if (!isDeepStrictEqual(wanted, this.configured)) {
      void this.keeper?.close();
      this.configured = wanted;
      this.keeper = wanted === null ? null : await AnchorKeeper.open({ ...this.parts, ...wanted });
    }
    if (dnssec === null || this.keeper === null) return settings;
    return { ...settings, dnssec: { ...dnssec, anchors: this.keeper.anchors() } };
  }

  /** Starts following the keys of the anchors' zones, unless they are already followed. */
  follow(validators: Validators): void {
    if (this.started === this.keeper) return;
    this.started = this.keeper;
    this.keeper?.start(validators);
  }

  /** Stops after the running check. */
  async close(): Promise<void> {
    await this.keeper?.close();
  }
}
