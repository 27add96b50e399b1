/** Characters in untrusted text that change how the text around them is displayed, or where a line ends. */

/** C0 and C1 controls and DEL, line and paragraph separators, and directional controls (Unicode, UAX #9). */
const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
/**
 * Characters without a glyph: directional characters (UAX #9) such as U+202E, zero-width characters such as U+200B, and
 * tags.
 */
const INVISIBLE = '\\p{Cf}\\p{Default_Ignorable_Code_Point}';
/** Characters that change the shape of adjacent letters and emoji. */
const SHAPING = '\\u200c\\u200d\\p{Variation_Selector}';

const UNSAFE = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'gv');
const CONTROL = new RegExp(`[${CONTROLS}]`);
const INVISIBLES = new RegExp(`[${INVISIBLE}]`, 'v');
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const HIDDEN = new RegExp(`[[${INVISIBLE}]--[${SHAPING}]]`, 'v');
const ALL_HIDDEN = new RegExp(HIDDEN.source, 'gv');

/** Whether a text has a character that changes the direction of the text around it. */
export function hasDirectionControl(text: string): boolean {
  return DIRECTIONS.test(text);
}

/**
 * Whether the text may look the same as a different text: it contains invisible characters that do not shape a letter.
 */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

/** Whether a text is on one line and does not change the direction of the text around it. */
export function isOneLine(text: string): boolean {
  return !CONTROL.test(text) && !DIRECTIONS.test(text);
}

/** Whether a text is on one line and has no character that is hidden or reorders the text around it. */
export function isPlainLine(text: string): boolean {
  return !CONTROL.test(text) && !HIDDEN.test(text);
}

/** The text with a space in place of each character that `hasHidden` and `hasDirectionControl` find. */
export function withoutHidden(text: string): string {
  return text.replace(ALL_HIDDEN, ' ');
}

/** Whether a text has any invisible character. */
export function hasInvisible(text: string): boolean {
  return INVISIBLES.test(text);
}

/** The text on one line, with unsafe characters escaped as in JSON: `\n`, `\u202e`. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    if (escaped !== character) return escaped;
    return Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join('');
  });
}
