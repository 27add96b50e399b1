/** Applies the settings of a configuration to the DNS threads and to the parts that depend on these settings. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../../config/schema.ts';
import type { Logger } from '../../../shared/log.ts';
import type { WorkerSettings } from '../../../shared/threads/messages.ts';
import { reasonOf } from '../../../shared/errors.ts';

/** Parts that are needed to apply settings. */
export interface LiveSettingsParts {
  /**
   * Returns the settings for a configuration, including the trust anchors known so far. Reads the files to which the
   * configuration refers.
   */
  readonly settingsOf: (config: Config) => Promise<WorkerSettings>;
  /** Sends the settings to all threads; returns the number of threads that have not acknowledged them in time. */
  readonly deliver: (settings: WorkerSettings) => Promise<number>;
  /** Called when the threads use a configuration. */
  readonly delivered: () => void;
  /** Removes all answers from the cache. */
  readonly emptyCache: () => Promise<unknown>;
  readonly logger: Logger;
}

/** Holds the settings of the threads. One per node. */
export class LiveSettings {
  private readonly parts: LiveSettingsParts;
  private active: WorkerSettings;
  private config: Config;
  private behind = 0;
  /** Whether the cache may contain answers that the current settings would not produce. */
  private isCacheOld = false;

  constructor(config: Config, first: WorkerSettings, parts: LiveSettingsParts) {
    this.config = config;
    this.active = first;
    this.parts = parts;
  }

  /** The settings that produced all answers in the cache; null if some answers are from other settings. */
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
      // This can happen although the change was checked: a file may have become invalid, or is only valid on the node
      // that stored the change.
      logger.error('could not apply the settings of the configuration; the previous ones stay active', {
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
    // Answers from other servers or with other DNSSEC settings must not be used, nor any answers if the cache is
    // disabled.
    this.isCacheOld ||=
      !isDeepStrictEqual([before.pools, before.dnssec], [next.pools, next.dnssec]) ||
      (before.cache.enabled && !next.cache.enabled);
    this.behind = await deliver(next);
    delivered();
  }
}
