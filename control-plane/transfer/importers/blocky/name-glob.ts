/**
 * Patterns of names with `*`, `?` and `[0-9]`, matched in time proportional to pattern length times name length. Pure.
 */

type Part = 'any-run' | ((letter: string) => boolean);

/** Whether a name matches a pattern, ignoring case. */
export function fitsGlob(pattern: string, name: string): boolean {
  const parts = partsOf(pattern.toLowerCase());
  const letters = name.toLowerCase().split('');
  let at = 0;
  let part = 0;
  // Where to continue if the last star must match a longer run.
  let starPart = -1;
  let starAt = 0;
  while (at < letters.length) {
    const wanted = parts[part];
    if (wanted === 'any-run') {
      starPart = part++;
      starAt = at;
    } else if (wanted?.(letters[at]!) === true) {
      part++;
      at++;
    } else if (starPart >= 0) {
      part = starPart + 1;
      at = ++starAt;
    } else return false;
  }
  return parts.slice(part).every((rest) => rest === 'any-run');
}

function partsOf(pattern: string): Part[] {
  const written = pattern.match(/\[[^\]]+\]|[^]/gu) ?? [];
  return written.map((text): Part => {
    if (text === '*') return 'any-run';
    if (text === '?') return () => true;
    if (text.length < 3) return (letter) => letter === text;
    return inSet(text.slice(1, -1));
  });
}

/** A set of letters such as `a-z0-9`; with a leading `^` or `!`, all letters except these. */
function inSet(text: string): (letter: string) => boolean {
  const isExcept = /^[\^!]/.test(text);
  const ranges = text.slice(isExcept ? 1 : 0).match(/[^]-[^]|[^]/gu) ?? [];
  return (letter) => ranges.some((range) => letter >= range[0]! && letter <= range.at(-1)!) !== isExcept;
}
