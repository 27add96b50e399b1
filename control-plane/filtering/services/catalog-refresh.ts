/**
 * Updates the service catalog from `blocking.catalog_url`, at start and periodically: one node fetches it for all and
 * stores it in the database; the other nodes load it from there.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { KeptCatalog } from '../../../shared/api/policy/services-api.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import {
  contentKey,
  DamagedBlob,
  fetchBlob,
  removeBlob,
  storeBlob,
} from '../../storage/cluster/blob-store.ts';
import { type JobLeases, type Lease, LeaseLost } from '../../storage/cluster/leases.ts';
import { Coalescer } from '../../storage/concurrency/coalescer.ts';
import type { Database, Queryable } from '../../storage/db/database.ts';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';
import { FETCH_LIMITS } from '../../lists/fetch/fetch-limits.ts';
import type { Validators } from '../../lists/fetch/fetch-http.ts';
import { fetchList } from '../../lists/fetch/fetch-list.ts';
import type { FetchBounds } from '../../lists/fetch/list-host.ts';
import { TEMPORARY_SUFFIX } from '../../host/files/durable-file.ts';
import { isDue } from '../../lists/fetch/refresh-schedule.ts';
import type { PolicyChanges } from '../../policy/change/change.ts';
import { dropUnneededBlobs } from '../../policy/change/revision-store.ts';
import { type CatalogRow, deleteCatalog, noteAttempt, readCatalogRow, useCatalog } from './catalog-store.ts';
import { parseCatalog } from './parse-catalog.ts';
import type { ServiceCatalog } from './service-catalog.ts';

/** Dependencies of the refresh. */
export interface CatalogRefreshParts {
  readonly catalog: ServiceCatalog;
  readonly database: Database;
  readonly changes: Pick<PolicyChanges, 'record'>;
  readonly jobs: Pick<JobLeases, 'hold'>;
  readonly dataDir: string;
  /** `blocking.catalog_url`; empty = no catalog is fetched. */
  readonly url: () => string;
  /** `blocking.catalog_refresh_hours`. */
  readonly refreshHours: () => number;
  readonly listDirs: () => readonly string[];
  readonly bounds: FetchBounds;
  /** Ids of the services that are blocked for a group; the catalog keeps these even if its source removes them. */
  readonly blocked: () => Promise<ReadonlySet<string>>;
  /** Applies the domains of a new catalog. */
  readonly apply: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const NO_VALIDATORS: Validators = { etag: null, lastModified: null };
/** Milliseconds between two checks of whether a fetch is due. */
const POLL_MS = 60_000;
/** The included catalog and the public registry have less than 0.6 MiB each. */
const LIMITS = { ...FETCH_LIMITS, totalMs: 60_000, compressedBytes: 4_194_304, textBytes: 8_388_608 };

/**
 * Fetches the catalog, and applies catalogs that other nodes fetched. If a fetch fails, the current catalog is kept.
 */
export class CatalogRefresh {
  private readonly parts: CatalogRefreshParts;
  private readonly stopping = new AbortController();
  private readonly startedAtMs: number;
  /** Content key of the active catalog, if it is from the database. */
  private taken: string | null = null;
  private timer: NodeJS.Timeout | undefined;
  private readonly taking = new Coalescer(() => this.takeNow());
  private running: Promise<void> = Promise.resolve();
  private lastReason = '';

  constructor(parts: CatalogRefreshParts) {
    this.parts = parts;
    this.startedAtMs = parts.clock.nowMs();
  }

  /** Checks now and periodically. */
  start(): void {
    clearInterval(this.timer);
    this.timer = setInterval(() => void this.check(), POLL_MS);
    this.timer.unref();
    void this.check();
  }

  /** Stops a running fetch. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.running;
    await this.taking.idle();
  }

  /**
   * Applies a catalog that another node fetched; rejects if this fails. Then starts a fetch in the background, if one
   * is due.
   */
  async follow(): Promise<void> {
    await this.taking.run();
    void this.check();
  }

  /**
   * Applies a catalog that another node fetched, and updates the catalog if due; resolves when both have ended, even if
   * they failed.
   */
  check(): Promise<void> {
    this.running = this.running
      .then(() => this.checkNow())
      .catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) return; // Logged elsewhere; the next check retries.
        this.parts.logger.warn('could not check for a service catalog', { reason: reasonOf(error) });
      });
    return this.running;
  }

  private async checkNow(): Promise<void> {
    const { database, jobs } = this.parts;
    const url = this.parts.url();
    if (url === '' || this.stopping.signal.aborted) return;
    await this.taking.run();
    if (!this.isDue(await readCatalogRow(database), url)) return;
    await jobs.hold('fetch the service catalog', async (lease) => {
      // Read again, because another node may have just fetched the catalog, and its notification may not have arrived
      // yet.
      const now = await readCatalogRow(database);
      if (this.isDue(now, url)) await this.refresh(now, url, lease);
    });
  }

  private async takeNow(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const row = await readCatalogRow(this.parts.database);
    if (row.url === this.parts.url() && row.contentKey !== null) await this.take(row.contentKey);
  }

  private isDue(row: CatalogRow, url: string): boolean {
    const { clock, refreshHours } = this.parts;
    const { failures } = row;
    const checkedMs = row.lastCheckedAt?.getTime() ?? 0;
    // A fetch that failed before this process started is retried immediately.
    const isKnown = row.url === url && checkedMs > 0 && (failures === 0 || checkedMs >= this.startedAtMs);
    const attempts = { lastMs: isKnown ? checkedMs : undefined, failures };
    return isDue(attempts, clock.nowMs(), { refreshHours: refreshHours() });
  }

  private async refresh(row: CatalogRow, url: string, lease: Lease): Promise<void> {
    const { catalog, logger } = this.parts;
    const failures = row.url === url ? row.failures : 0;
    try {
      const updated = await this.fetch(row, url, lease);
      this.lastReason = '';
      if (updated !== null) logger.info('service catalog updated', updated);
    } catch (error) {
      if (error instanceof LeaseLost || lease.signal.aborted || this.stopping.signal.aborted) throw error;
      const reason = reasonOf(error);
      // A warning is only logged once, because a node without internet access would log it twice an hour.
      const level = reason === this.lastReason ? 'debug' : 'warn';
      this.lastReason = reason;
      const active = catalog.isShipped() ? 'shipped' : 'previous';
      logger[level](`service catalog not updated; the ${active} one stays active`, {
        url: shownUrl(url),
        reason,
      });
      await this.note(lease, url, failures + 1);
    }
  }

  /** Fetches the catalog; returns numbers of services in it, or null if it has not changed. */
  private async fetch(
    row: CatalogRow,
    url: string,
    lease: Lease,
  ): Promise<{ services: number; skipped: number } | null> {
    const { listDirs, bounds, catalog, blocked, clock } = this.parts;
    const path = this.temporaryPath();
    try {
      const signal = AbortSignal.any([this.stopping.signal, lease.signal]);
      const validators = row.url === url && row.contentKey !== null ? row : NO_VALIDATORS;
      const request = { url, validators, path, listDirs: listDirs(), bounds, signal, limits: LIMITS };
      const outcome = await fetchList(request);
      if (outcome.type === 'unchanged') {
        await this.note(lease, url, 0);
        return null;
      }
      const fetched = parseCatalog(await readText(path));
      const fetching = { url, now: new Date(clock.nowMs()), blocked: await blocked() };
      await this.store(lease, catalog.keep(fetched, fetching), outcome.validators);
      return { services: fetched.services.length, skipped: fetched.skipped };
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Stores a new catalog for all nodes, and applies it here. */
  private async store(lease: Lease, kept: KeptCatalog, validators: Validators): Promise<void> {
    const text = JSON.stringify(kept);
    const key = contentKey(createHash('sha256').update(text).digest('hex'));
    const path = this.temporaryPath();
    try {
      await writeFile(path, await promisify(gzip)(text), { mode: 0o600 });
      await this.note(lease, kept.url, 0, async (tx) => {
        await storeBlob(tx, key, path);
        await useCatalog(tx, key, validators);
        await dropUnneededBlobs(tx);
      });
    } finally {
      await rm(path, { force: true });
    }
    await this.use(key, kept);
  }

  /** Records an attempt for all nodes, and runs `also` in the same transaction. */
  private note(
    lease: Lease,
    url: string,
    failures: number,
    also: (tx: Queryable) => Promise<void> = async () => undefined,
  ): Promise<undefined> {
    const { changes, clock } = this.parts;
    return changes.record(async (tx) => {
      await lease.confirm(tx);
      await noteAttempt(tx, url, { at: new Date(clock.nowMs()), failures });
      await also(tx);
      return { result: undefined, summary: null };
    });
  }

  /** Applies the catalog in the database, unless it is already active. */
  private async take(key: string): Promise<void> {
    if (key === this.taken) return;
    const { database, logger } = this.parts;
    try {
      await this.use(key, await this.read(key));
    } catch (error) {
      if (!(error instanceof DamagedBlob)) throw error;
      logger.error('could not use the service catalog in the database; fetching it again', {
        reason: reasonOf(error),
      });
      await removeBlob(database, key);
      await deleteCatalog(database, key);
    }
  }

  /** Reads a stored catalog. @throws {DamagedBlob} */
  private async read(key: string): Promise<KeptCatalog> {
    const path = this.temporaryPath();
    try {
      if (!(await fetchBlob(this.parts.database, key, path)))
        throw new DamagedBlob(`blob ${key} does not exist`);
      return KeptCatalog.parse(JSON.parse(await readText(path)));
    } finally {
      await rm(path, { force: true });
    }
  }

  private async use(key: string, kept: KeptCatalog): Promise<void> {
    await this.parts.catalog.take(kept);
    await this.parts.apply();
    this.taken = key;
  }

  private temporaryPath(): string {
    return join(this.parts.dataDir, `service-catalog-${randomUUID()}${TEMPORARY_SUFFIX}`);
  }
}

async function readText(path: string): Promise<string> {
  return Buffer.concat(await createReadStream(path).pipe(createGunzip()).toArray()).toString();
}
