/** Renews the service catalog from `blocking.catalog_url`, at start and from time to time. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import { FETCH_LIMITS } from '../lists/fetch-limits.ts';
import { fetchList } from '../lists/fetch-list.ts';
import type { FetchBounds } from '../lists/list-host.ts';
import { TEMPORARY_SUFFIX } from '../snapshot/durable-file.ts';
import { isDue } from '../lists/refresh-schedule.ts';
import type { ServiceCatalog } from './service-catalog.ts';
import { parseCatalog } from './service-catalog.ts';

/** What a refresh is made of. */
export interface CatalogRefreshParts {
  readonly catalog: ServiceCatalog;
  readonly dataDir: string;
  /** `blocking.catalog_url`; empty = the shipped catalog. */
  readonly url: () => string;
  /** `blocking.catalog_refresh_hours`. */
  readonly refreshHours: () => number;
  readonly listDirs: () => readonly string[];
  readonly bounds: FetchBounds;
  /** Brings the domains of a new catalog into force. */
  readonly apply: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Between two looks whether it is time. */
const LOOK_MS = 60_000;
/** The shipped catalog has 0.3 MiB. */
const LIMITS = { ...FETCH_LIMITS, totalMs: 60_000, compressedBytes: 8_388_608, textBytes: 33_554_432 };

/** See above. What is in force stays whenever a fetch fails. */
export class CatalogRefresh {
  private readonly parts: CatalogRefreshParts;
  private readonly stopping = new AbortController();
  private readonly validators = { etag: null as string | null, lastModified: null as string | null };
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private lastMs: number | undefined;
  private failures = 0;

  constructor(parts: CatalogRefreshParts) {
    this.parts = parts;
  }

  /** Looks now and from now on. */
  start(): void {
    clearInterval(this.timer);
    this.timer = setInterval(() => void this.look(), LOOK_MS);
    this.timer.unref();
    void this.look();
  }

  /** Stops a fetch at work. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.running;
  }

  /** Renews the catalog where that is due; resolves when it is done, well or not. */
  look(): Promise<void> {
    this.running = this.running.then(() => this.refreshIfDue());
    return this.running;
  }

  private async refreshIfDue(): Promise<void> {
    const { clock, logger } = this.parts;
    const url = this.parts.url();
    const attempts = { lastMs: this.lastMs, failures: this.failures };
    if (url === '' || this.stopping.signal.aborted) return;
    if (!isDue(attempts, clock.nowMs(), this.parts.refreshHours())) return;
    this.lastMs = clock.nowMs();
    try {
      const services = await this.refresh(url);
      this.failures = 0;
      if (services !== null) logger.info('service catalog updated', { services });
    } catch (error) {
      this.failures++;
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn('service catalog not updated; the one before stays in force', { url, reason });
    }
  }

  /** Number of services of a new catalog; null where it has not changed. */
  private async refresh(url: string): Promise<number | null> {
    const { dataDir, listDirs, bounds, catalog, apply, clock } = this.parts;
    const path = join(dataDir, `service-catalog-${randomUUID()}${TEMPORARY_SUFFIX}`);
    try {
      const { signal } = this.stopping;
      const { validators } = this;
      const request = { url, validators, path, listDirs: listDirs(), bounds, signal, limits: LIMITS };
      const outcome = await fetchList(request);
      if (outcome.type === 'unchanged') return null;
      const text = Buffer.concat(await createReadStream(path).pipe(createGunzip()).toArray()).toString();
      const fetched = parseCatalog(text);
      await catalog.replace(fetched, new Date(clock.nowMs()));
      await apply();
      Object.assign(validators, outcome.validators);
      return fetched.services.length;
    } finally {
      await rm(path, { force: true });
    }
  }
}
