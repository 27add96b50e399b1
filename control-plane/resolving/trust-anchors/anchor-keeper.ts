/**
 * Keeps trust anchors up to date (RFC 5011): makes a thread query the keys of each followed zone, at intervals that
 * depend on the zone's signatures, stores the result on disk, and sends it to the threads. `managed-keys.ts` determines
 * how the observed keys change the trust anchors.
 */
import { reasonOf } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/clock.ts';
import { keyTag } from '../../../shared/dns/dnskey-rdata.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import type { TrustAnchor, TrustPointKeys } from '../../../shared/dns/trust-anchors.ts';
import type { Logger } from '../../../shared/log.ts';
import { readAnchorFile, writeAnchorFile } from './anchor-file.ts';
import { activeAnchors, type KeyChange, type ManagedKey, observed, refreshDelayMs } from './managed-keys.ts';

/** Dependencies of the keeper. */
export interface AnchorKeeperParts {
  /** Trust anchors that are configured or built in. */
  readonly anchors: readonly TrustAnchor[];
  /** Whether changes of the keys of the anchors' zones are followed. */
  readonly isFollowing: boolean;
  readonly dataDir: string;
  readonly clock: Clock;
  /**
   * Whether the clock is known to be wrong. No zone is followed in this case, because a new key must be observed for 30
   * days by this clock.
   */
  readonly isClockWrong: () => boolean;
  readonly logger: Logger;
}

/** Fetches and validates keys. */
export interface Validators {
  /** The keys of a zone with trust anchors; null = no response. May reject. */
  observe(zone: Uint8Array): Promise<TrustPointKeys | null>;
  /** Makes the threads validate with these anchors. */
  trust(anchors: readonly TrustAnchor[]): void;
}

/** A zone with trust anchors. */
interface TrustPoint {
  readonly zone: Uint8Array;
  readonly name: string;
  readonly configured: readonly TrustAnchor[];
  keys: readonly ManagedKey[];
  /** Time of the next check in Unix milliseconds. */
  dueMs: number;
}

/** Milliseconds between two checks whether a query is due. */
const POLL_MS = 60_000;

/** Follows the trust anchors of all configured zones. One per node. */
export class AnchorKeeper {
  private readonly parts: AnchorKeeperParts;
  private readonly points: readonly TrustPoint[];
  private validators: Validators | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private isClosed = false;

  private constructor(parts: AnchorKeeperParts, points: readonly TrustPoint[]) {
    this.parts = parts;
    this.points = points;
  }

  /** Loads the stored state. */
  static async open(parts: AnchorKeeperParts): Promise<AnchorKeeper> {
    const { anchors, isFollowing, dataDir, logger } = parts;
    const known = isFollowing ? await readAnchorFile(dataDir, logger) : new Map<string, ManagedKey[]>();
    const zones = new Map(anchors.map(({ zone }) => [nameToText(zone), zone]));
    const points = [...zones].map(([name, zone]): TrustPoint => {
      const configured = anchors.filter((it) => nameToText(it.zone) === name);
      return { zone, name, configured, keys: known.get(name) ?? [], dueMs: 0 };
    });
    return new AnchorKeeper(parts, points);
  }

  /** The trust anchors currently used for validation. */
  anchors(): TrustAnchor[] {
    return this.points.flatMap(({ zone, configured, keys }) => activeAnchors(zone, configured, keys));
  }

  /** Starts following the keys of the zones. */
  start(validators: Validators): void {
    if (!this.parts.isFollowing) return;
    this.validators = validators;
    this.timer = setInterval(() => void this.check(), POLL_MS);
    this.timer.unref();
    void this.check();
  }

  /** Stops after the current check. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    await this.running;
  }

  /** Checks the keys of each zone that is due; resolves when the checks have ended, even if they failed. */
  check(): Promise<void> {
    const { validators } = this;
    if (validators === undefined) return this.running;
    this.running = this.running.then(async () => {
      if (this.parts.isClockWrong()) return;
      for (const point of this.points)
        if (!this.isClosed && this.isDue(point)) await this.refresh(point, validators);
    });
    return this.running;
  }

  /** Whether a check is due. If the clock was set back, the check is due after the longest interval at the latest. */
  private isDue({ dueMs }: TrustPoint): boolean {
    const nowMs = this.parts.clock.nowMs();
    return nowMs >= dueMs || dueMs - nowMs > refreshDelayMs(LONGEST);
  }

  private async refresh(point: TrustPoint, validators: Validators): Promise<void> {
    const { clock, logger } = this.parts;
    const seen = await this.observe(point, validators);
    // Stops here if closed: other anchors may be active by now.
    if (this.isClosed) return;
    const nowMs = clock.nowMs();
    point.dueMs = nowMs + refreshDelayMs(seen);
    if (seen === null) return;
    if (!seen.isTrusted)
      logger.error('could not update trust anchors: the keys of the zone are not signed by a trusted key', {
        zone: point.name,
      });
    const { keys, changes } = observed(point.keys, point.configured, seen, nowMs);
    if (changes.length === 0) return;
    point.keys = keys;
    for (const change of changes) this.report(point, change);
    await this.save();
    validators.trust(this.anchors());
    if (activeAnchors(point.zone, point.configured, keys).length === 0)
      logger.error('every trust anchor of a zone is revoked; names in the zone are not validated', {
        zone: point.name,
      });
  }

  private async observe(point: TrustPoint, validators: Validators): Promise<TrustPointKeys | null> {
    const { logger } = this.parts;
    try {
      const seen = await validators.observe(point.zone);
      if (seen === null) logger.info('could not update trust anchors: no answer', { zone: point.name });
      return seen;
    } catch (error) {
      const reason = reasonOf(error);
      logger.warn('could not update trust anchors', { zone: point.name, reason });
      return null;
    }
  }

  private report({ name }: TrustPoint, { rdata, from, to }: KeyChange): void {
    const fields = { zone: name, key_tag: keyTag(rdata), from: from ?? 'start', to: to ?? 'start' };
    this.parts.logger.info('trust anchor changed its state', fields);
  }

  /**
   * Stores the keys. If storing fails, the result is used nevertheless, and will be observed again after the next
   * start.
   */
  private async save(): Promise<void> {
    try {
      const keys = new Map(this.points.map((point) => [point.name, point.keys]));
      await writeAnchorFile(this.parts.dataDir, keys);
    } catch (error) {
      const reason = reasonOf(error);
      this.parts.logger.error('could not store trust anchors', { reason });
    }
  }
}

/** The longest interval that signatures can require. */
const LONGEST: TrustPointKeys = {
  isTrusted: true,
  keys: [],
  originalTtlSecs: 0x7fffffff,
  expiresInSecs: 0x7fffffff,
};
