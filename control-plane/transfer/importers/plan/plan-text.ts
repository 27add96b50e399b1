/** Converts texts of foreign files to the forms that Weir stores and shows. Pure. */
import { shownUrl } from '../../../../shared/net/shown-url.ts';
import { withoutHidden } from '../../../../shared/unsafe-characters.ts';

const MAX_COMMENT_LENGTH = 1000;
const MAX_SHOWN_LENGTH = 200;

/** A comment: without control characters, not too long. */
export function commentOf(text: string): string {
  return cut(plain(text).trim(), MAX_COMMENT_LENGTH);
}

/** A name on one line, of at most `max` UTF-16 units; null if no characters remain. */
export function labelOf(text: string, max: number): string | null {
  const line = withoutHidden(plain(text))
    .replaceAll(/[\s\u0080-\u009f]+/g, ' ')
    .trim();
  const label = cut(line, max).trim();
  return label === '' ? null : label;
}

/** A value whose name indicates a secret, as in `pwhash = "..."`, in any kind of file. */
const NAMED_SECRET =
  /((?:passw|pwhash|pwd|passphrase|secret|token|(?:api|access|auth|private|client)[-_]?key|credential)[\w.-]*["']?\s*[=:]\s*)\S.*/i;

/** A name for the report: on one line, truncated, and with the credentials of URLs and named secrets masked. */
export function shownName(text: string): string {
  const line = (labelOf(text, 4 * MAX_SHOWN_LENGTH) ?? '').replace(NAMED_SECRET, '$1***');
  const masked = line.includes('://') ? line.split(' ').map(shownUrl).join(' ') : line;
  return masked.length > MAX_SHOWN_LENGTH ? `${cut(masked, MAX_SHOWN_LENGTH)}…` : masked;
}

/** Name for a list that only has a URL or a path: its host and path. */
export function sourceName(url: string): string {
  const parts = URL.canParse(url) ? new URL(url) : null;
  return parts === null ? url : `${parts.hostname}${parts.pathname}`;
}

/** Whether a rule of a list allows or denies; undefined for a rule with another kind of answer. */
export function actionOfRule(line: string): 'allow' | 'deny' | undefined {
  if (/[$,]dnsrewrite/.test(line)) return undefined;
  return line.startsWith('@@') ? 'allow' : 'deny';
}

function plain(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  return text.toWellFormed().replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ');
}

/** Truncates to `max` UTF-16 units, never within a character. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}
