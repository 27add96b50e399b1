/** SQL of `service_catalog`: the fetched catalog that all nodes use, and the results of fetching it. */
import type { Queryable } from '../../storage/db/database.ts';
import type { Validators } from '../../lists/fetch/fetch-http.ts';

/** State of the catalog that all nodes share. */
export interface CatalogRow {
  /** The URL to which the other fields belong; null = no catalog was fetched yet. */
  readonly url: string | null;
  /** Content key of the catalog, see `blob-store.ts`. */
  readonly contentKey: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly lastCheckedAt: Date | null;
  /** Number of failed fetches since the last successful one. */
  readonly failures: number;
}

/** Reads the state. */
export async function readCatalogRow(db: Queryable): Promise<CatalogRow> {
  const { rows } = await db.query<CatalogRow>(
    `SELECT url, content_key AS "contentKey", etag, last_modified AS "lastModified",
       last_checked_at AS "lastCheckedAt", failures FROM service_catalog`,
  );
  return rows[0]!;
}

/** Records an attempt and its result. If the URL has changed, the state is reset first. */
export async function noteAttempt(
  tx: Queryable,
  url: string,
  { at, failures }: { at: Date; failures: number },
): Promise<void> {
  await tx.query(
    `UPDATE service_catalog SET url = $1, last_checked_at = $2, failures = $3,
       content_key = CASE WHEN url = $1 THEN content_key END, etag = CASE WHEN url = $1 THEN etag END,
       last_modified = CASE WHEN url = $1 THEN last_modified END`,
    [url, at, failures],
  );
}

/** Activates a catalog that is stored as a blob. */
export async function useCatalog(tx: Queryable, contentKey: string, validators: Validators): Promise<void> {
  await tx.query('UPDATE service_catalog SET content_key = $1, etag = $2, last_modified = $3', [
    contentKey,
    validators.etag,
    validators.lastModified,
  ]);
}

/** Removes a catalog whose blob is unusable, so that it is fetched again. */
export async function deleteCatalog(tx: Queryable, contentKey: string): Promise<void> {
  await tx.query(
    `UPDATE service_catalog SET content_key = NULL, etag = NULL, last_modified = NULL, last_checked_at = NULL
     WHERE content_key = $1`,
    [contentKey],
  );
}
