/** Converts a source to the form of the API: without credentials, and with data that only this node has. */
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { refusalOf } from './list-compiler.ts';
import type { RefusedCopies } from './refused-copies.ts';
import type { StoredSource } from './source-store.ts';

/** Converts the row of a source. `isAtWork`: this node is fetching the list, or will do so soon. */
export function toApiSource(
  stored: StoredSource,
  refused: RefusedCopies,
  isAtWork: boolean,
): BlocklistSource {
  const { lastModified: _modified, kind: _kind, contentKey, heldKey: _held, ...others } = stored;
  const {
    contentUrlKey: _url,
    judged: _judged,
    isKept: _isKept,
    failures: _failures,
    hasReader: _reader,
    ...source
  } = others;
  const shown = { ...source, url: source.has_text ? null : shownUrl(source.url) };
  if (isAtWork) return { ...shown, status: 'updating' };
  const refusal = contentKey === null ? undefined : refusalOf(refused, stored, contentKey);
  return refusal === undefined ? shown : { ...shown, status: 'error', last_error: refusal };
}
