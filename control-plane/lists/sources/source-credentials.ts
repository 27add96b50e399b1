/** Credentials in the URLs of sources are never shown, so a URL that comes back from a form contains masks instead. */
import { hasMask, unmaskUrl } from '../../../shared/net/shown-url.ts';
import type { ApiError } from '../../api/api-error.ts';
import { invalid } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import { readSource, type SourceChange } from './source-store.ts';

/** 400 for a URL with masks that have no stored values. */
export function refuseMasks(url: string): void {
  if (hasMask(url)) throw masksWithoutCredentials();
}

/**
 * The change with the stored credentials in place of masks; 400 if the stored credentials are for another origin, or
 * there are none.
 */
export async function withStoredCredentials(
  tx: Queryable,
  kind: SourceKind,
  id: number,
  change: SourceChange,
): Promise<SourceChange> {
  if (change.url === undefined || !hasMask(change.url)) return change;
  const url = unmaskUrl(change.url, (await readSource(tx, id, kind)).url);
  if (url === null) throw masksWithoutCredentials();
  return { ...change, url };
}

function masksWithoutCredentials(): ApiError {
  return invalid([{ path: 'url', message: 'expected credentials, not ***: none are stored for this host' }]);
}
