/**
 * Puts another password hash into the text of a configuration, and leaves everything else in it, comments and order
 * included, as it is. The position is found by the hash itself, which is unique, and the result is parsed again before
 * use.
 */
import { parseConfig } from './parse-config.ts';

/** The text with `next` in the place of `current`; null if that is not what the text sets, or the text has faults. */
export function replacePasswordHash(text: string, current: string, next: string): string | null {
  if (hashIn(text) !== current) return null;
  // A comment may quote the same hash.
  for (let at = text.indexOf(current); at !== -1; at = text.indexOf(current, at + 1)) {
    const changed = text.slice(0, at) + next + text.slice(at + current.length);
    if (hashIn(changed) === next) return changed;
  }
  return null;
}

function hashIn(text: string): string | null {
  const result = parseConfig({ file: { name: 'weir.toml', text }, env: {} });
  return result.ok ? result.value.config.auth.admin.password_hash : null;
}
