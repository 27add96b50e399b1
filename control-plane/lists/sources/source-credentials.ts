/**
 * Handles credentials in the URLs of sources. They are never shown, so a URL that a form sends back contains masks
 * instead.
 */
import { hasMask, unmaskUrl } from '../../../shared/net/shown-url.ts';
import type { ApiError } from '../../api/api-error.ts';
import { invalid } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import { readSource, type SourceChange } from './source-store.ts';

/** Throws 400 for a new URL that contains masks, because there are no stored credentials to replace them. */
export function refuseMasks(url: string): void {
  if (hasMask(url)) throw masksWithoutCredentials();
}

/**
 * Replaces masks in a change with the stored credentials; throws 400 if there are none, or if they are for another
 * origin.
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
