/**
 * Reads the response of the server that reports the newest version. The text is from outside, so all of it is checked.
 * Pure.
 */
import { RELEASE_VERSION, ReleaseAnswer } from '../../../shared/api/updates/updates-api.ts';

/** A released version, with the page that describes it. */
export interface Release {
  /** A semantic version, such as `0.2.0`. */
  readonly version: string;
  /** An https URL. */
  readonly url: string;
}

/** Reads the response; unknown fields are ignored. @throws {Error} with the reason if the response is invalid */
export function readAnswer(text: string): Release {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the response is not JSON');
  }
  const answer = ReleaseAnswer.safeParse(value);
  if (!answer.success)
    throw new Error('the response is not an object with a version such as "0.2.0" and an https URL');
  // The URL is normalized as browsers do it.
  return { version: answer.data.version, url: new URL(answer.data.url).href };
}

/** Whether a version is newer than another one (semver.org section 11). */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [RELEASE_VERSION.exec(version), RELEASE_VERSION.exec(than)];
  if (a === null || b === null) return false;
  for (const part of [1, 2, 3]) {
    const difference = Number(a[part]) - Number(b[part]);
    if (difference !== 0) return difference > 0;
  }
  const [early, other] = [a[4], b[4]];
  if (early === undefined || other === undefined) return early === undefined && other !== undefined;
  return compareEarly(early.split('.'), other.split('.')) > 0;
}

/**
 * Compares the identifiers of pre-releases: numbers by value, and before words; if one list is the beginning of the
 * other, the shorter list is first.
 */
function compareEarly(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left, right] = [a[at]!, b[at]!];
    if (left === right) continue;
    const areNumbers = [left, right].map((part) => /^\d+$/.test(part));
    if (areNumbers[0] && areNumbers[1]) return Number(left) - Number(right);
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
