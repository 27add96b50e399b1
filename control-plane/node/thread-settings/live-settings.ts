/** Applies the settings of a configuration to the DNS threads and the parts that belong to them. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../../config/schema.ts';
import type { Logger } from '../../../shared/log.ts';
import type { WorkerSettings } from '../../../shared/threads/messages.ts';
import { reasonOf } from '../../../shared/errors.ts';

/** Parts that are needed to apply settings. */
export interface LiveSettingsParts {
  /** The settings that follow from a configuration, with the trust anchors found so far. Reads the files that it names. */
  readonly settingsOf: (config: Config) => Promise<WorkerSettings>;
  /** Gives them to all threads; returns how many have not taken them in time. */
  readonly deliver: (settings: WorkerSettings) => Promise<number>;
  /** Called when threads work by a configuration. */
  readonly delivered: () => void;
  /** Drops every answer from the cache. */
  readonly emptyCache: () => Promise<unknown>;
  readonly logger: Logger;
}

/** Holds what the threads work by. One per node. */
export class LiveSettings {
  private readonly parts: LiveSettingsParts;
  private inForce: WorkerSettings;
  private config: Config;
  private behind = 0;
  /** The cache has answers that would not be given now. */
  private isCacheOld = false;

  constructor(config: Config, first: WorkerSettings, parts: LiveSettingsParts) {
    this.config = config;
    this.inForce = first;
    this.parts = parts;
  }

  /** The settings that produced all answers in the cache; null while some come from other settings. */
  ofCache(): WorkerSettings | null {
    return this.isCacheOld ? null : this.inForce;
  }

  /** Threads that do not work by the settings yet; each takes them later, or is replaced. */
  threadsBehind(): number {
    return this.behind;
  }

  /** Resolves once every thread works by this configuration, or its time is over. */
  async use(config: Config): Promise<void> {
    if (config !== this.config || this.behind > 0) await this.deliver(config);
    if (!this.isCacheOld) return;
    await this.parts.emptyCache();
    this.isCacheOld = false;
  }

  private async deliver(config: Config): Promise<void> {
    const { settingsOf, deliver, delivered, logger } = this.parts;
    const before = this.inForce;
    let next: WorkerSettings;
    try {
      next = await settingsOf(config);
    } catch (error) {
      // A file that was good when the change was stored, or is good on the node that stored it.
      logger.error('use the settings of the configuration failed: those before stay', {
        reason: reasonOf(error),
      });
      return;
    }
    this.config = config;
    if (this.behind === 0 && isDeepStrictEqual(before, next)) {
      delivered();
      return;
    }
    this.inForce = next;
    // Answers of other servers, by another trust, or none at all: nothing of what was kept is wanted.
    this.isCacheOld ||=
      !isDeepStrictEqual([before.pools, before.dnssec], [next.pools, next.dnssec]) ||
      (before.cache.enabled && !next.cache.enabled);
    this.behind = await deliver(next);
    delivered();
  }
}
