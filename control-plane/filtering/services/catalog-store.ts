/** SQL of `service_catalog`: the fetched catalog that all nodes use, and the results of its fetches. */
import type { Queryable } from '../../storage/db/database.ts';
import type { Validators } from '../../lists/fetch/fetch-http.ts';

/** State of the catalog that all nodes share. */
export interface CatalogRow {
  /** The URL that the other fields are for; null = nothing was fetched yet. */
  readonly url: string | null;
  /** Key of the catalog, see `blob-store.ts`. */
  readonly contentKey: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly lastCheckedAt: Date | null;
  /** Failed fetches since the last successful one. */
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

/** Records an attempt, whatever its result; the first one for another URL resets the state. */
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
