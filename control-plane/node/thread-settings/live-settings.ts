/** Applies the settings of a configuration to the DNS threads and the parts that depend on them. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../../config/schema.ts';
import type { Logger } from '../../../shared/log.ts';
import type { WorkerSettings } from '../../../shared/threads/messages.ts';
import { reasonOf } from '../../../shared/errors.ts';

/** Parts that are needed to apply settings. */
export interface LiveSettingsParts {
  /** The settings for a configuration, with the trust anchors found so far. Reads the files in the configuration. */
  readonly settingsOf: (config: Config) => Promise<WorkerSettings>;
  /** Sends the settings to all threads; returns the number of threads that have not acknowledged them in time. */
  readonly deliver: (settings: WorkerSettings) => Promise<number>;
  /** Called when threads use a configuration. */
  readonly delivered: () => void;
  /** Removes every answer from the cache. */
  readonly emptyCache: () => Promise<unknown>;
  readonly logger: Logger;
}

/** Stores the settings of the threads. One per node. */
export class LiveSettings {
  private readonly parts: LiveSettingsParts;
  private active: WorkerSettings;
  private config: Config;
  private behind = 0;
  /** Whether the cache has answers that would not be given now. */
  private isCacheOld = false;

  constructor(config: Config, first: WorkerSettings, parts: LiveSettingsParts) {
    this.config = config;
    this.active = first;
    this.parts = parts;
  }

  /** The settings that produced all answers in the cache; null if some come from other settings. */
  ofCache(): WorkerSettings | null {
    return this.isCacheOld ? null : this.active;
  }

  /** Number of threads that do not use the settings yet; each applies them later, or is replaced. */
  threadsBehind(): number {
    return this.behind;
  }

  /** Resolves when every thread uses this configuration, or after a time limit. */
  async use(config: Config): Promise<void> {
    if (config !== this.config || this.behind > 0) await this.deliver(config);
    if (!this.isCacheOld) return;
    await this.parts.emptyCache();
    this.isCacheOld = false;
  }

  private async deliver(config: Config): Promise<void> {
    const { settingsOf, deliver, delivered, logger } = this.parts;
    const before = this.active;
    let next: WorkerSettings;
    try {
      next = await settingsOf(config);
    } catch (error) {
      // The file was valid when the change was stored, or is valid on the node that stored it.
      logger.error('could not use the settings of the configuration; the previous ones stay active', {
        reason: reasonOf(error),
      });
      return;
    }
    this.config = config;
    if (this.behind === 0 && isDeepStrictEqual(before, next)) {
      delivered();
      return;
    }
    this.active = next;
    // Answers of other servers or with other trust settings must not be used, and none without a cache.
    this.isCacheOld ||=
      !isDeepStrictEqual([before.pools, before.dnssec], [next.pools, next.dnssec]) ||
      (before.cache.enabled && !next.cache.enabled);
    this.behind = await deliver(next);
    delivered();
  }
}
