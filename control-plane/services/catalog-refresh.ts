/** Renews the service catalog from `blocking.catalog_url`, at start and periodically. */
import { reasonOf } from '../../shared/thrown.ts';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/log.ts';
import { shownUrl } from '../../shared/net/shown-url.ts';
import type { Validators } from '../lists/fetch/fetch-http.ts';
import { FETCH_LIMITS } from '../lists/fetch/fetch-limits.ts';
import { fetchList } from '../lists/fetch/fetch-list.ts';
import type { FetchBounds } from '../lists/fetch/list-host.ts';
import { TEMPORARY_SUFFIX } from '../files/durable-file.ts';
import { isDue } from '../lists/fetch/refresh-schedule.ts';
import { parseCatalog } from './parse-catalog.ts';
import type { ServiceCatalog } from './service-catalog.ts';

/** Parts of the refresh. */
export interface CatalogRefreshParts {
  readonly catalog: ServiceCatalog;
  readonly dataDir: string;
  /** `blocking.catalog_url`; empty = nothing is fetched. */
  readonly url: () => string;
  /** `blocking.catalog_refresh_hours`. */
  readonly refreshHours: () => number;
  readonly listDirs: () => readonly string[];
  readonly bounds: FetchBounds;
  /** Ids of the services that are blocked for a group; they are kept even if the source drops them. */
  readonly blocked: () => Promise<ReadonlySet<string>>;
  /** Puts the domains of a new catalog into force. */
  readonly apply: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const NO_VALIDATORS: Validators = { etag: null, lastModified: null };
/** Milliseconds between two checks whether a fetch is due. */
const LOOK_MS = 60_000;
/** The shipped catalog and the public registry have less than 0.6 MiB each. */
const LIMITS = { ...FETCH_LIMITS, totalMs: 60_000, compressedBytes: 4_194_304, textBytes: 8_388_608 };

/** Fetches the catalog and stores it. A failed fetch leaves the catalog in force. */
export class CatalogRefresh {
  private readonly parts: CatalogRefreshParts;
  private readonly stopping = new AbortController();
  /** Validators of the catalog in force, from the server of `url`. */
  private have: { readonly url: string; readonly validators: Validators } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private lastMs: number | undefined;
  private lastUrl = '';
  private failures = 0;
  private lastReason = '';

  constructor(parts: CatalogRefreshParts) {
    this.parts = parts;
  }

  /** Checks now and periodically. */
  start(): void {
    clearInterval(this.timer);
    this.timer = setInterval(() => void this.look(), LOOK_MS);
    this.timer.unref();
    void this.look();
  }

  /** Stops a running fetch. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.running;
  }

  /** Renews the catalog if due; resolves when done, successful or not. */
  look(): Promise<void> {
    this.running = this.running.then(() => this.refreshIfDue());
    return this.running;
  }

  private async refreshIfDue(): Promise<void> {
    const { clock, logger } = this.parts;
    const url = this.parts.url();
    const attempts = { lastMs: this.lastMs, failures: this.failures };
    if (url === '' || this.stopping.signal.aborted) return;
    if (url === this.lastUrl && !isDue(attempts, clock.nowMs(), { refreshHours: this.parts.refreshHours() }))
      return;
    this.lastUrl = url;
    this.lastMs = clock.nowMs();
    try {
      const updated = await this.refresh(url);
      this.failures = 0;
      this.lastReason = '';
      if (updated !== null) logger.info('service catalog updated', updated);
    } catch (error) {
      this.failures++;
      const reason = reasonOf(error);
      // Logged once: a node without internet access would log it twice an hour forever.
      const level = reason === this.lastReason ? 'debug' : 'warn';
      this.lastReason = reason;
      logger[level]('service catalog not updated; the previous one stays in force', {
        url: shownUrl(url),
        reason,
      });
    }
  }

  /** Counts of a new catalog's services; null if it has not changed. */
  private async refresh(url: string): Promise<{ services: number; skipped: number } | null> {
    const { dataDir, listDirs, bounds, catalog, blocked, apply, clock } = this.parts;
    const path = join(dataDir, `service-catalog-${randomUUID()}${TEMPORARY_SUFFIX}`);
    try {
      const { signal } = this.stopping;
      const validators = this.have?.url === url ? this.have.validators : NO_VALIDATORS;
      const request = { url, validators, path, listDirs: listDirs(), bounds, signal, limits: LIMITS };
      const outcome = await fetchList(request);
      if (outcome.type === 'unchanged') return null;
      const text = Buffer.concat(await createReadStream(path).pipe(createGunzip()).toArray()).toString();
      const fetched = parseCatalog(text);
      await catalog.replace(fetched, { url, now: new Date(clock.nowMs()), blocked: await blocked() });
      await apply();
      this.have = { url, validators: outcome.validators };
      return { services: fetched.services.length, skipped: fetched.skipped };
    } finally {
      await rm(path, { force: true });
    }
  }
}
